"""A subject is evaluated again and again: each evaluation is stored and compared with those before it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InputError
from evenhand.store.store import Store
from evenhand.workflows.history import list_histories, load_history
from evenhand.workflows.score import score
from evenhand.workflows.subjects import SubjectEvaluation, delete_subject_evaluations, store_subject_evaluation
from tests.runs.stored import keep_run

SEVEN = ("correctness", "completeness", "adherence", "actionability", "efficiency", "safety", "consistency")
RUBRIC = {"name": "notes", "method": "judge-skill", "red_flags": [{"id": "secret", "asks": "A key is shown."}]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / ".evenhand", {}) as opened:
        yield opened


def evaluate(store: Store, value: float, id: str = "", subject: str = "notes", **changed: Any) -> SubjectEvaluation:
    """An evaluation in which every criterion has this score, but for those that are changed."""
    entry = {"id": id or str(value), "scores": dict.fromkeys(SEVEN, value) | changed.pop("scores", {}), **changed}
    return store_subject_evaluation(store, subject, score(RUBRIC, [entry]))


def test_the_third_evaluation_is_the_first_that_can_be_flagged(store: Store) -> None:
    """And what strays is named by criterion; the score is what it would have been."""
    told = [
        str(evaluate(store, value, scores={"safety": safety}).consistency)
        for value, safety in ((8, 8), (8.5, 8.5), (8.25, 3))
    ]

    assert told[:2] == ["no history yet", "one earlier evaluation: too few to flag"]
    assert told[2] == "safety 3 is more than 2 standard deviations from its mean 8.25 (sd 0.35, last 2)"
    assert load_history(store, "notes").evaluations[-1].scorecard["score"] == 7.73


def test_without_spread_any_change_is_flagged(store: Store) -> None:
    """sd = 0."""
    for id in ("a", "b"):
        evaluate(store, 8, id)

    assert evaluate(store, 8, "c").consistency.strayed == ()
    assert len(evaluate(store, 8.01, "d").consistency.strayed) == 7


def test_only_the_last_ten_count(store: Store) -> None:
    """One that is older is forgotten."""
    evaluate(store, 2, "old")
    for number in range(10):
        evaluate(store, 8, f"new-{number}")

    found = evaluate(store, 7.5, "last")

    assert (found.consistency.n, len(found.consistency.strayed)) == (10, 7)


def test_another_fingerprint_starts_again_and_says_so(store: Store) -> None:
    """Scores under another rubric are not comparable."""
    for id in ("a", "b"):
        evaluate(store, 8, id)
    other = score("judge-skill", [{"id": "c", "scores": dict.fromkeys(SEVEN, 3)}])

    found = store_subject_evaluation(store, "notes", other)

    assert (str(found.consistency), found.changed, found.trend) == ("no history yet", True, None)


def test_the_same_answers_about_the_same_output_count_once(store: Store) -> None:
    """Scored three times, a piece of work is still one evaluation; another one with the same scores is another."""
    first = evaluate(store, 8, "a")
    again = [evaluate(store, 8, "a") for _ in range(2)]
    other = evaluate(store, 8, "b")

    assert [one.same_as for one in (first, *again, other)] == [None, first.id, first.id, None]
    assert [one.consistency.n for one in (first, *again, other)] == [0, 0, 0, 1]


def test_two_outputs_with_the_same_answers_are_two_evaluations(store: Store) -> None:
    """Where the output is known it decides, and the name of its file does not."""
    scores = [score(RUBRIC, [{"id": id, "scores": dict.fromkeys(SEVEN, 8)}]) for id in ("a.md", "b.md")]

    found = [
        store_subject_evaluation(store, "notes", one, output=output)
        for one, output in ((scores[0], "one text"), (scores[1], "one text"), (scores[0], "another text"))
    ]

    assert [one.same_as for one in found] == [None, found[0].id, None]


def test_an_incomplete_evaluation_is_stored_without_a_number_for_what_is_missing(store: Store) -> None:
    """Missing is not zero: the criterion is skipped, and one in which nothing was answered counts for nothing."""
    unanswered = {"safety": {"missing": "judge failed"}}
    evaluate(store, 8, "a")
    evaluate(store, 8, "b", scores=unanswered)
    evaluate(store, 8, "c", scores={id: {"missing": "judge failed"} for id in SEVEN})

    found = evaluate(store, 8, "d")

    assert found.consistency.n == 2
    assert {one.criterion for one in found.consistency.measured} == set(SEVEN) - {"safety"}
    assert [one.scorecard["score"] for one in load_history(store, "notes").evaluations] == [8.0, None, None, 8.0]
    assert found.trend is None


def test_a_key_that_has_the_number_of_a_card_in_it_is_not_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its digits masked, nobody would know it for a key any more, and the rest of it would stay."""
    monkeypatch.setenv("SLACK_TOKEN", "xoxb-4111111111111111-ZqvRpLwTnaBcDxYz")
    answers = [{"id": "a", "scores": dict.fromkeys(SEVEN, 8), "red_flags": {"secret": os.environ["SLACK_TOKEN"]}}]

    found = store_subject_evaluation(store, "notes", score(RUBRIC, answers))

    assert "ZqvRpLwTnaBcDxYz" not in json.dumps(store.evaluations.list_evaluations())
    assert found.scorecard["statements"][0]["why"] == "[key hidden]"


def test_neither_the_output_nor_personal_data_nor_a_key_is_stored(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An explanation may quote what it is about; the output itself is kept as a digest."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    why = "mails jane.doe@example.com and shows sk-test-0123456789abcdef"
    answers = [{"id": "a", "scores": dict.fromkeys(SEVEN, 8), "red_flags": {"secret": why}}]

    found = store_subject_evaluation(store, "notes", score(RUBRIC, answers), output="The whole output, word for word.")

    stored = json.dumps(store.evaluations.list_evaluations(), ensure_ascii=False)
    assert [word for word in ("jane.doe", "0123456789abcdef", "word for word") if word in stored] == []
    assert found.scorecard["statements"][0]["why"] == "mails [•••@•••.com] and shows [key hidden]"
    assert len(found.output_digest or "") == 64


@pytest.mark.parametrize("name", ["", " notes", "two\nlines", "eval:notes", "subject:notes", "x" * 121])
def test_a_name_that_could_not_be_typed_again_is_refused(store: Store, name: str) -> None:
    """Before anything is stored."""
    with pytest.raises(InputError, match="--subject: "):
        evaluate(store, 8, subject=name)

    assert store.evaluations.list_evaluations() == []


def test_a_name_of_an_eval_and_a_subject_must_say_which(store: Store) -> None:
    """Subjects are a namespace of their own; the error names both ways."""
    keep_run(store, "20261116-090000-aaaaaa", {"old": [4.0] * 6})
    evaluate(store, 8, subject="desk")
    evaluate(store, 8, subject="desk/old")

    for name in ("desk", "desk/old"):
        with pytest.raises(InputError, match=f"both an eval and a subject .*name eval:{name} or subject:{name}"):
            load_history(store, name)
        assert len(load_history(store, f"eval:{name}").runs) == 1
        assert len(load_history(store, f"subject:{name}").evaluations) == 1


def test_all_that_has_a_history_is_listed(store: Store) -> None:
    """Evals and subjects by name, each with how often it was evaluated."""
    keep_run(store, "20261116-090000-aaaaaa", {"old": [4.0] * 6})
    evaluate(store, 8, "a")
    evaluate(store, 9, "b")

    listed = [(one.kind, one.name, one.evaluations, one.score, one.grade) for one in list_histories(store)]

    assert listed == [("eval", "desk", 1, None, None), ("subject", "notes", 2, 9.0, "A")]


def test_an_evaluation_or_all_of_them_can_be_deleted(store: Store) -> None:
    """What went by mistake is compared with nothing afterwards."""
    first, second, third = (evaluate(store, value) for value in (8, 2, 8.5))

    gone = delete_subject_evaluations(store, "notes", second.id)
    left = load_history(store, "notes").evaluations
    rest = delete_subject_evaluations(store, "subject:notes", "all")

    assert (gone, [one.consistency.n for one in left], rest) == ([second.id], [0, 1], [first.id, third.id])
    with pytest.raises(InputError, match="no finished run and no evaluation of 'notes'"):
        load_history(store, "notes")


def test_what_cannot_be_deleted_is_refused_with_what_can(store: Store) -> None:
    """The runs of an eval are not touched by it."""
    keep_run(store, "20261116-090000-aaaaaa", {"old": [4.0] * 6})
    evaluate(store, 8, "a")
    evaluate(store, 9, "b")

    with pytest.raises(InputError, match="it is an eval: evenhand runs delete RUN"):
        delete_subject_evaluations(store, "desk", "all")
    with pytest.raises(InputError, match="did you mean 'notes'"):
        delete_subject_evaluations(store, "note", "all")
    for wrong, why in (("2", "more than one"), ("x", "begins no"), ("", "begins no")):
        with pytest.raises(InputError, match=why):
            delete_subject_evaluations(store, "notes", wrong)
    assert len(store.evaluations.list_evaluations()) == 2


def test_the_highest_score_comes_first_on_request(store: Store) -> None:
    """What cannot be compared stands apart, and what has no score last."""
    for value in (8, 9, 7):
        evaluate(store, value)
    evaluate(store, 8, "gap", scores={"safety": {"missing": "x"}})

    found = load_history(store, "notes", sort="composite").evaluations

    assert [one.scorecard["score"] for one in found] == [9.0, 8.0, 7.0, None]
