"""JUnit XML: valid whatever the text, counted right, a failure apart from an error."""

import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from evenhand.report import ci_reports as _junit
from evenhand.report.ci_reports import _render_junit_attributes, escape_report_xml, write_junit
from tests.report.example import head, hostile_head, hostile_samples, samples
from tests.report.texts import hostile, with_text

ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def written(whole: dict[str, Any], some: Any) -> ET.Element:
    stream = io.StringIO(newline="")
    write_junit(whole, some, stream)
    return ET.fromstring(stream.getvalue().encode())


def case(root: ET.Element, suite: str, name: str) -> ET.Element:
    found = root.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert found is not None
    return found


def assert_follows_the_rules(root: ET.Element) -> None:
    """What readers of the format rely on."""
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        cases = suite.findall("testcase")
        assert [child.tag for child in suite] == ["properties", *["testcase"] * len(cases)]
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
        for one in cases:
            assert {"name", "classname", "time"} == set(one.attrib)
            assert float(one.attrib["time"]) >= 0
            assert len([child for child in one if child.tag in ("failure", "error")]) <= 1
    for count in ("tests", "failures", "errors"):
        assert int(root.attrib[count]) == sum(int(suite.attrib[count]) for suite in root)


def test_every_result_is_a_case_of_its_variant() -> None:
    """And the decision is a suite of its own: the verdict, and every gate."""
    root = written(head(), samples())

    assert_follows_the_rules(root)
    assert [(suite.attrib["name"], suite.attrib["tests"]) for suite in root] == [
        ("decision", "5"),
        ("old", "24"),
        ("new", "24"),
    ]


def test_a_failed_check_is_a_failure_and_a_missing_score_an_error() -> None:
    """A reader tells a bad output from one that could not be judged."""
    root = written(head(), samples())

    failed = case(root, "new", "q-023").find("failure")
    unscored = case(root, "new", "q-007").find("error")
    assert failed is not None
    assert unscored is not None
    assert "assertion failed: contains refund: looked for the word “refund”" in (failed.text or "")
    assert unscored.attrib["message"] == "tone has no score: the reply could not be read"
    assert case(root, "new", "q-001").find("failure") is None
    score = case(root, "new", "q-001").find("properties/property[@name='score']")
    assert score is not None
    assert score.attrib["value"] == "0.775"


def test_an_error_with_failed_checks_is_counted_once() -> None:
    """And says both."""
    one = next(iter(samples(1)))
    result = {**one["results"][0], "state": "incomplete", "why": "no reply"}
    result["assertions"][0]["passed"] = False

    root = written(head(), [{**one, "results": [result]}])

    assert_follows_the_rules(root)
    error = case(root, "old", "q-001").find("error")
    assert error is not None
    assert error.attrib["message"] == "no reply"
    assert "assertion failed: contains refund" in (error.text or "")


def test_an_assertion_without_an_answer_is_no_failure() -> None:
    """Nothing was measured, so nothing was missed."""
    one = next(iter(samples(1)))
    result = {**one["results"][1], "verdict": "pass"}
    for assertion in result["assertions"]:
        assertion["passed"] = None

    root = written(head(), [{**one, "results": [result]}])

    assert case(root, "new", "q-001").find("failure") is None


@pytest.mark.parametrize(("passed", "tag"), [(True, None), (False, "failure"), (None, "error")])
def test_a_gate_that_was_not_measured_has_not_passed(passed: bool | None, tag: str | None) -> None:
    """Missing is not a pass, and not a failure either."""
    gates = {"new": [{"gate": "fact", "min": 3.5, "mean": None if passed is None else 3.0, "passed": passed}]}

    root = written({**head(), "decision": {**head()["decision"], "gates": gates}}, [])

    children = [child.tag for child in case(root, "decision", "new: fact at least 3.50") if child.tag != "properties"]
    assert children == ([tag] if tag else [])


def test_a_mean_that_nearly_reaches_its_gate_has_the_digits_that_decide() -> None:
    """As everywhere."""
    gates = {"new": [{"gate": "fact", "min": 3.5, "mean": 3.49996, "passed": False}]}

    root = written({**head(), "decision": {**head()["decision"], "gates": gates}}, [])

    failure = case(root, "decision", "new: fact at least 3.50").find("failure")
    assert failure is not None
    assert failure.get("message") == "new: the mean is 3.49996, the gate 3.50"


@pytest.mark.parametrize("exit_code", [0, 1])
def test_the_verdict_fails_as_the_command_does(exit_code: int) -> None:
    """A build must not see green here and red there."""
    decision = {**head()["decision"], "exit_code": exit_code}

    root = written({**head(), "decision": decision}, [])

    assert len(case(root, "decision", "verdict").findall("failure")) == exit_code


def test_repeats_are_cases_of_their_own() -> None:
    """Two cases of one name would be taken for one."""
    one = next(iter(samples(1)))
    results = [{**one["results"][0], "repeat": repeat} for repeat in (0, 1)]

    root = written({**head(), "run": {**head()["run"], "repeats": 2}}, [{**one, "results": results}])

    names = [found.attrib["name"] for found in root.findall("testsuite[@name='old']/testcase")]
    assert names == ["q-001 (repeat 1)", "q-001 (repeat 2)"]


def test_a_suite_too_long_for_memory_waits_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text comes out."""
    kept, spooled = io.StringIO(newline=""), io.StringIO(newline="")

    write_junit(head(), samples(), kept)
    monkeypatch.setattr(_junit, "SUITE_CHARACTERS_IN_MEMORY", 10)
    write_junit(head(), samples(), spooled)

    assert spooled.getvalue() == kept.getvalue()


@hostile
def test_text_comes_back_as_it_went_in(text: str) -> None:
    """As content and as attribute; only what XML 1.0 cannot hold is replaced."""
    source = f"<a {_render_junit_attributes(b=text)}>{escape_report_xml(text)}</a>"

    element = ET.fromstring(source.encode())

    expected = ILLEGAL.sub("\ufffd", text)
    assert element.attrib["b"] == expected
    assert (element.text or "") == expected


@hostile
def test_no_text_breaks_the_file(text: str) -> None:
    """Names of variants and samples, reasons and outputs included."""
    root = written(*with_text(text))

    assert_follows_the_rules(root)
    assert root.findall("testsuite")[1].attrib["name"] == ILLEGAL.sub("\ufffd", f"old{text}")


def test_half_a_character_is_replaced() -> None:
    """JSON can name one; no file can hold it."""
    assert escape_report_xml("a\ud800b") == "a\ufffdb"


def test_hostile_samples_do_nothing() -> None:
    """On a terminal neither: what would act there is a reference."""
    stream = io.StringIO(newline="")

    write_junit(hostile_head(), hostile_samples(), stream)

    assert_follows_the_rules(ET.fromstring(stream.getvalue().encode()))
    assert not set("\x00\x1b\x07\x9b\u202e\u2066") & set(stream.getvalue())


def test_what_the_history_flags_is_a_case_that_fails_nothing() -> None:
    """For review; it never changes a score or a build."""
    says = "accuracy 0.20 differs from the 0.80 that each of the last 2 evaluations scored"
    told = [
        {"variant": "old", "says": "consistent with the last 3", "strayed": []},
        {"variant": "new", "says": says, "strayed": ["accuracy"]},
    ]

    root = written(head(consistency=told), samples())

    assert_follows_the_rules(root)
    for name, key, value in (("old", "history", told[0]["says"]), ("new", "review", says)):
        found = case(root, "decision", f"{name}: history")
        assert [child.tag for child in found] == ["properties"]
        assert [(one.get("name"), one.get("value")) for one in found.iter("property")] == [(key, value)]
