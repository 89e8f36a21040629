"""Judges that are named by an address: short names that tell them apart, and the whole one once."""

import io
import re

from evenhand.report.html.page_file import write_html
from evenhand.report.judge_names import name_judges_of_report_briefly, shorten_reported_judges
from tests.report.example import head, samples

HOST = "openai-compatible:http://127.0.0.1:8399/v1"


def test_a_name_is_as_long_as_it_must_be_to_be_the_only_one() -> None:
    """Charts cut long names off at the end, where they differ."""
    same = [f"{HOST}/strict", "openai-compatible:http://b:1/v2/strict", f"{HOST}/mild", "openai/gpt-4o", "mild"]

    assert shorten_reported_judges([f"{HOST}/strict", f"{HOST}/mild", "openai/gpt-4o"]) == {
        f"{HOST}/strict": "strict",
        f"{HOST}/mild": "mild",
    }
    assert shorten_reported_judges(same) == {
        f"{HOST}/strict": "v1/strict",
        "openai-compatible:http://b:1/v2/strict": "v2/strict",
        f"{HOST}/mild": "v1/mild",
    }
    assert shorten_reported_judges(["a:http://h/m", "b:http://h/m"]) == {}
    assert shorten_reported_judges([]) == {}


def test_a_page_names_a_judge_by_its_address_once() -> None:
    """In the table of judges: elsewhere the address drowns what is said."""
    whole = head()
    names = {whole["judges"][0]["name"]: f"{HOST}/strict", whole["judges"][1]["name"]: f"{HOST}/mild"}
    for one in whole["judges"]:
        one["name"] = names[one["name"]]
    for pair in whole["agreement"]:
        pair["judges"] = [names.get(name, name) for name in pair["judges"]]
    whole["failures"] = [
        {"kind": "judge", "variant": "old", "why": f"{HOST}/mild: 400", "count": 2, "first": "s1"},
    ]
    whole["eval"]["source"] = f"judges: [{HOST}/strict]"
    stream = io.StringIO()
    write_html(whole, samples(1), stream)
    page = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", stream.getvalue(), flags=re.S)

    brief = name_judges_of_report_briefly(whole)
    assert brief["failures"][0]["why"] == "mild: 400"
    assert brief["eval"] == whole["eval"]
    assert page.count(f"{HOST}/mild") == 1
    assert f'<span class="note">{HOST}/mild</span>' in page
