"""Real replies of real judges: how many are read, and that none is misread."""

import json
import re
from fractions import Fraction
from pathlib import Path

from evenhand.judging.reading.choice import read_reply_choice
from evenhand.judging.reading.reply_reader import read_reply_score
from evenhand.model.scale import Scale, Scored

BOTH = {"1": ("Output (a)",), "2": ("Output (b)",), "tie": ("tie", "equally good")}


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_odd_replies_are_read_and_none_is_misread(shared: Path) -> None:
    """The few that stay unread could mean two things."""
    right = wrong = made_up = 0
    for row in rows(shared / "datasets" / "odd_replies" / "replies.jsonl"):
        if not row.get("gold_how"):
            continue
        asked = re.match(r"one score (\d)-(\d): (\w+)", str(row["task"]))
        assert asked
        score = read_reply_score(str(row["reply"]), Scale(min=Fraction(asked[1]), max=Fraction(asked[2])), asked[3])
        value = float(score.value) if isinstance(score, Scored) else None
        right += value == row["gold"]
        wrong += None not in (value, row["gold"]) and value != row["gold"]
        made_up += row["gold"] is None and value is not None

    assert right >= 1_150
    assert (wrong, made_up) == (0, 0)


def test_a_reason_before_the_score_hides_none(shared: Path) -> None:
    """The authors' own parser takes the 5 of "3 out of 5" in six of them."""
    right = unread = 0
    for row in rows(shared / "datasets" / "summeval_judges" / "replies_gpt-3.5-turbo-0301_rts.jsonl"):
        score = read_reply_score(str(row["reply"]), Scale(min=Fraction(1), max=Fraction(5)), str(row["dim"]))
        right += isinstance(score, Scored) and float(score.value) == row["authors_score"]
        unread += not isinstance(score, Scored)

    assert (right, unread) == (4_794, 0)


def test_pairwise_verdicts_are_read(shared: Path) -> None:
    """The authors' own reading of the long replies is wrong now and then; of the short ones it is right."""
    agree = {"cot": 0, "vanilla": 0}
    for kind in agree:
        for row in rows(shared / "datasets" / "llmbar_pairwise" / f"replies_{kind}.jsonl"):
            choice = read_reply_choice(str(row["reply"]), BOTH)
            winner = str({"1": "2", "2": "1"}.get(str(choice), choice) if row["swapped"] else choice)
            agree[kind] += (winner if winner in ("1", "2") else None) == row["authors_winner"]

    assert agree["vanilla"] == 5_616
    assert agree["cot"] >= 1_170
