"""A reviewer's whole reply as answers: prose, then a block of JSON, in a file, on standard input or as a text."""

import json
from pathlib import Path

import pytest

from evenhand import AnswersError, score
from tests.cli.command import evenhand

FOUR = ("accuracy", "completeness", "conciseness", "clarity")


def evaluation(**values: float) -> str:
    """A reviewer's JSON: each output with the same score on every criterion."""
    given = {f"Response {name}": dict.fromkeys(FOUR, value) for name, value in values.items()}
    return json.dumps({"ranking": list(given), "evaluations": given}, indent=2)


REPLY = f"Response A is right.\n\n```json\n{evaluation(A=9, B=7)}\n```\n"


def scored(text: str) -> list[tuple[str, str]]:
    return [(card.id, str(card.score)) for card in score("council-v1", text).scorecards]


@pytest.mark.parametrize(
    "text",
    [
        REPLY,
        f"```json\n{evaluation(A=9, B=7)}\n```",
        f"Well.\n{evaluation(A=9, B=7)}\nThat is all.",
        f"<think>Perhaps {evaluation(A=1, B=1)}</think>\n{REPLY}",
        f"A first draft:\n```json\n{evaluation(A=2, B=3)}\n```\nOn reflection:\n{REPLY}",
        f'{REPLY}\nMetadata: {{"tokens": 12}}',
        evaluation(A=9, B=7),
    ],
    ids=["prose", "fence", "bare", "thinking", "draft", "metadata", "json"],
)
def test_the_last_block_with_answers_is_what_a_reply_says(text: str) -> None:
    """As `judge` reads it: thinking, drafts and other JSON are not the answer."""
    assert scored(text) == [("Response A", "9.00"), ("Response B", "7.00")]


def test_lines_of_json_in_a_reply_are_all_read() -> None:
    """JSONL in a fence is one block: no line of it is left out."""
    lines = [json.dumps({"id": name, "scores": dict.fromkeys(FOUR, 8)}) for name in "abc"]

    assert scored("Here:\n```\n" + "\n".join(lines) + "\n```\n") == [(name, "8.00") for name in "abc"]


def test_a_file_and_standard_input_may_be_a_reply(tmp_path: Path) -> None:
    """Nobody has to cut the JSON out."""
    (tmp_path / "reply.md").write_text(REPLY, "utf-8")

    done = evenhand("score", "-r", "council-v1", "reply.md", "--json", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert [one["score"] for one in json.loads(done.stdout)["scorecards"]] == [9, 7]
    assert scored(str(tmp_path / "reply.md")) == [("Response A", "9.00"), ("Response B", "7.00")]


def test_faults_in_a_reply_keep_their_lines() -> None:
    """The line is that of the file, not of the block."""
    text = 'One.\nTwo.\n```json\n{"outputs": [\n  {"id": "a", "score": 9}]}\n```\n'

    with pytest.raises(AnswersError) as caught:
        score("council-v1", text)

    assert str(caught.value).splitlines()[0] == "answers:5: unknown field 'score' (did you mean 'scores'?)"


@pytest.mark.parametrize("text", ["I refuse.\nSorry.", "No JSON {here}.\n", 'Cut off:\n```json\n{"evaluations": {"A"'])
def test_a_reply_without_answers_is_refused_in_short(text: str) -> None:
    """The text is not the name of a file, and is not printed back."""
    with pytest.raises(AnswersError, match=r"^answers:1: not valid JSON"):
        score("council-v1", text)


def test_a_name_of_a_file_that_is_missing_is_still_told() -> None:
    """One line that does not begin like JSON is a file."""
    with pytest.raises(AnswersError, match=r"no-such\.json: cannot be read"):
        score("council-v1", "no-such.json")
