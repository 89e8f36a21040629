"""Evaluations of subjects are kept beside runs, in either database."""

import pytest

from evenhand.errors import StoreError
from evenhand.store.store import Store
from tests.store.rows import evaluation_row, run_row


def test_evaluations_are_read_back_oldest_first(database: str) -> None:
    """By time, not by id; those of other subjects are not among them."""
    rows = [
        evaluation_row("20261116-081500-ffffff", at="2026-11-16T08:15:00.000001+00:00"),
        evaluation_row("20261116-081500-000000", at="2026-11-16T08:15:00.000002+00:00"),
        evaluation_row("20261116-081600-000000", subject="other", at="2026-11-16T08:16:00.000000+00:00"),
    ]
    with Store.open(database, {}) as first:
        for row in reversed(rows):
            first.evaluations.add_evaluation(row)

    with Store.open(database, {}, create=False) as second:
        assert second.evaluations.list_evaluations("release-notes") == rows[:2]
        assert second.evaluations.list_evaluations() == rows


def test_an_id_is_given_once(database: str) -> None:
    """What is stored never changes."""
    with Store.open(database, {}) as store:
        store.evaluations.add_evaluation(evaluation_row())

        with pytest.raises(StoreError, match="there is an evaluation '20261116-081500-e7a100' already"):
            store.evaluations.add_evaluation(evaluation_row(content="{}"))

        assert store.evaluations.list_evaluations() == [evaluation_row()]


def test_evaluations_go_one_by_one_or_all_of_a_subject(database: str) -> None:
    """Runs and other subjects stay."""
    with Store.open(database, {}) as store:
        store.begin_run(run_row(name="release-notes"))
        for id in ("a", "b", "c"):
            store.evaluations.add_evaluation(evaluation_row(id))
        store.evaluations.add_evaluation(evaluation_row("d", subject="other"))

        gone = store.evaluations.delete_evaluations("release-notes", "b")
        left = [row["id"] for row in store.evaluations.list_evaluations()]
        rest = store.evaluations.delete_evaluations("release-notes")

        assert (gone, left, rest) == (1, ["a", "c", "d"], 2)
        assert [row["id"] for row in store.evaluations.list_evaluations()] == ["d"]
        assert len(store.list_runs("release-notes")) == 1


def test_a_name_with_half_a_character_is_stored_and_found(database: str) -> None:
    """As every text that comes from outside."""
    with Store.open(database, {}) as store:
        store.evaluations.add_evaluation(evaluation_row(subject="half \ud83d"))

        assert len(store.evaluations.list_evaluations("half \ud83d")) == 1
