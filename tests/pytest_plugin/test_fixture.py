"""The fixture scores an output inside a test, and fails the test readably where the output falls short."""

import pytest

from tests.pytest_plugin.inner import ran

pytest_plugins = ["pytester"]


def test_an_output_that_passes_comes_back_with_its_scores(pytester: pytest.Pytester) -> None:
    """For asserts of the test's own."""
    done = ran(
        pytester,
        """
def test_answer(evenhand):
    scored = evenhand(ANSWER, rubric=POLITE, judges=BOTH, assertions=[{"contains": "refund"}])

    assert (scored.state, scored.score, scored.composite, scored.verdict) == ("scored", 1.0, 5.0, "pass")
    assert scored.criteria == {"polite": True, "short": True}
    assert scored.layers == {"fact": 5.0, "judge": 5.0}
    assert [one["passed"] for one in scored.assertions] == [True]
    assert [one["judge"] for one in scored.judgments] == ["scripted", "scripted"]
    steps = ["weighted mean 1: polite yes, short yes", "mean of layers 5.00: fact 1 = 5, rubric 1 = 5"]
    assert scored.explain() == steps
""",
    )

    done.assert_outcomes(passed=1)


def test_a_failure_says_what_was_asked_and_what_was_found(pytester: pytest.Pytester) -> None:
    """Whoever reads the log of a build has nothing else."""
    done = ran(
        pytester,
        """
def test_answer(evenhand):
    evenhand(ANSWER, rubric=POLITE, judges=ONE, min_score=0.8, assertions=[{"contains": "parcel"}])
""",
    )

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "score 0.5 is below 0.8 (test_shop.py:*)",
            "also: gate failed: short",
            "also: the verdict is fail",
            "assertion failed: contains 'parcel'",
            "    looked for: the output contains 'parcel'",
            "    found: not there",
            "criterion short: 0 of 0–1 by scripted",
            "    as scripted",
            "    quoted: Thank you for writing. Your refund is on its way.",
            "output: Thank you for writing. Your refund is on its way.",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("criterion polite*")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("rubric=POLITE, judges=NONE", "no score: short: abstained: nothing was scripted *"),
        ("rubric=POLITE, judges=scripted_judge('?', '?')", "no score: polite: unreadable*"),
        ("assertions=[{'tool_called': 'search'}]", "no score: behavior: not answered: * (no trace was recorded*"),
        ("rubric=rubric('polite'), judges=NONE", "gate failed: polite *"),
        ("rubric=SOFT, judges=NONE", "the verdict is fail *"),
        ("rubric=GRADED, judges=EIGHTS, min_grade='A'", "grade B+ is below A *"),
        ("rubric=GRADED, judges=EIGHTS, min_score=8.01", "score 8 is below 8.01 *"),
        ("assertions=[{'contains': 'Berlin'}]", "assertion failed: contains 'Berlin' *"),
    ],
)
def test_what_falls_short_fails(pytester: pytest.Pytester, call: str, says: str) -> None:
    """A threshold, a gate, a verdict, an assertion; and what has no score never passes."""
    done = ran(pytester, f"def test_answer(evenhand):\n    evenhand(ANSWER, {call})\n")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([says])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("ANSWER", "there is nothing to score by (give a rubric, or assertions, or both)"),
        ("7, rubric=POLITE", "an output is a text or a VariantOutput, got int"),
        ("ANSWER, rubric=POLITE, min_score=80", "min_score: 80 is outside 0–1, the scale of the rubric 'test'"),
        ("ANSWER, rubric=POLITE, min_score='high'", "min_score: 'high' is not a number (as in min_score=0.8)"),
        ("ANSWER, rubric=POLITE, min_grade='A'", "min_grade: the rubric 'test' gives no grades (use min_score)"),
        ("ANSWER, rubric=GRADED, min_grade='Z'", "min_grade: 'Z' is not a grade (known: *)"),
        ("ANSWER, assertions=[{'contains': 'a'}], min_score=1", "min_score: min_score needs a rubric*"),
        ("ANSWER, assertions=[{'contians': 'a'}]", "*unknown assertion 'contians' (did you mean 'contains'?)"),
        ("ANSWER, rubric='polite'", "no rubric is called 'polite'*"),
        ("ANSWER, rubric=POLITE, judges=3", "int is not a judge*"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_the_line_that_asks_it(
    pytester: pytest.Pytester, call: str, says: str
) -> None:
    """The traceback is the test's own line, and no judge is paid before."""
    done = ran(pytester, f"def test_answer(evenhand):\n    evenhand({call})\n")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [f">       evenhand({call})".replace("[", "[[]"), f"E       evenhand.errors.*Error: {says}"]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin*:[0-9]*")


def test_marks_say_what_the_call_leaves_open_and_the_nearest_counts(pytester: pytest.Pytester) -> None:
    """One rubric for a module, a stricter threshold for a class, another judge for a test."""
    done = ran(
        pytester,
        """
pytestmark = pytest.mark.evenhand(rubric=POLITE, judges=BOTH, variant="module")

def test_module(evenhand):
    assert evenhand(ANSWER).variant == "module"

@pytest.mark.evenhand(variant="class")
class TestClass:
    def test_class(self, evenhand):
        assert evenhand(ANSWER).variant == "class"

    @pytest.mark.evenhand(variant="test", judges=ONE)
    def test_test(self, evenhand):
        assert evenhand(ANSWER, judges=BOTH).variant == "test"

    @pytest.mark.evenhand(judges=ONE)
    def test_fails(self, evenhand):
        evenhand(ANSWER)
""",
    )

    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(["FAILED test_shop.py::TestClass::test_fails - Failed: gate failed: short*"])


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ("min_scores=1", "*pytest.mark.evenhand: unknown argument 'min_scores' (did you mean 'min_score'?)"),
        ("0.8", "*pytest.mark.evenhand: it takes keywords only (as in min_score=0.8)"),
    ],
)
def test_a_mark_that_means_nothing_is_refused(pytester: pytest.Pytester, mark: str, says: str) -> None:
    """A misspelt threshold would pass everything."""
    done = ran(pytester, f"@pytest.mark.evenhand({mark})\ndef test_answer(evenhand):\n    pass\n")

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([says])


def test_a_test_with_a_loop_of_its_own_keeps_it(pytester: pytest.Pytester) -> None:
    """Async tests call the fixture as sync ones do; a loop that was set before is still there after."""
    done = ran(
        pytester,
        """
import asyncio
import contextlib

async def answered(evenhand):
    scored = evenhand(ANSWER, rubric=POLITE, judges=BOTH)
    await asyncio.sleep(0)
    return scored.score

def test_inside(evenhand):
    assert asyncio.run(answered(evenhand)) == 1.0

def test_beside(evenhand):
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        asyncio.set_event_loop(loop)
        evenhand(ANSWER, rubric=POLITE, judges=BOTH)

        assert asyncio.get_event_loop() is loop
        asyncio.set_event_loop(None)
""",
    )

    done.assert_outcomes(passed=2)


def test_how_an_output_came_about_can_be_asserted(pytester: pytest.Pytester) -> None:
    """A Made brings its trace, cost and latency along."""
    done = ran(
        pytester,
        """
def test_answer(evenhand):
    output = made(ANSWER, trace=["search"], latency_ms=1200)
    evenhand(output, assertions=[{"tool_called": "search"}, {"latency_max": 2000}])
""",
    )

    done.assert_outcomes(passed=1)


def test_what_a_sample_knows_reaches_judges_and_assertions(pytester: pytest.Pytester) -> None:
    """Input, reference and context are shown to the judge; a reference serves assertions too."""
    done = ran(
        pytester,
        """
def test_answer(evenhand):
    judge = scripted_judge({"polite": True, "short": True})
    evenhand(ANSWER, rubric=POLITE, judges=judge, input="Where is it?", reference="On its way.", context="Order 7.",
             assertions=[{"levenshtein_max": 60}])

    texts = judge.asked[0].about.texts
    assert (texts["question"], texts["reference"], texts["context"]) == ("Where is it?", "On its way.", "Order 7.")
""",
    )

    done.assert_outcomes(passed=1)


def test_a_rubric_file_is_found_beside_the_test(pytester: pytest.Pytester) -> None:
    """From wherever pytest was started."""
    folder = pytester.mkdir("deep")
    (folder / "polite.yaml").write_text("criteria: [{id: polite, asks: Is it polite?}]")
    test = pytester.makepyfile(
        """
        from evenhand.testing import scripted_judge

        def test_answer(evenhand):
            assert evenhand("Thank you.", rubric="polite.yaml", judges=scripted_judge({"polite": 1})).score == 1.0
        """
    )
    test.rename(folder / "test_deep.py")

    done = pytester.runpytest_inprocess("deep")

    done.assert_outcomes(passed=1)


def test_judges_of_one_name_are_not_mistaken_for_each_other(pytester: pytest.Pytester) -> None:
    """The same question in two tests may have two scripted answers: nothing is taken from another test."""
    done = ran(
        pytester,
        """
def test_first(evenhand):
    evenhand(ANSWER, rubric=POLITE, judges=BOTH)

def test_second(evenhand):
    evenhand(ANSWER, rubric=POLITE, judges=ONE)
""",
    )

    done.assert_outcomes(passed=1, failed=1)


def test_a_message_gives_nobody_away_and_does_nothing(pytester: pytest.Pytester) -> None:
    """Logs of builds are read by many, on terminals."""
    done = ran(
        pytester,
        r"""
def test_answer(evenhand):
    evenhand("Write to jane.doe@example.com \x1b[2J now", rubric=POLITE, judges=ONE, assertions=[{"contains": "x"}])
""",
    )

    message = done.stdout.str().partition("FAILURES")[2]
    assert r"\x1b[2J now" in message
    assert "\x1b[2J" not in message
    assert "jane.doe@example.com" not in message.replace('evenhand("Write to jane.doe@example.com', "")


def test_an_empty_output_has_no_score(pytester: pytest.Pytester) -> None:
    """There is nothing to judge, and nothing passes."""
    done = ran(pytester, "def test_answer(evenhand):\n    evenhand(' ', rubric=POLITE, judges=BOTH)\n")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["no score: the output is empty: there is nothing to judge *", "output: empty"])
