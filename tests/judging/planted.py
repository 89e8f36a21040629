"""What comes of a judge that always says the same about a text in which answers may be planted."""

from evenhand import Sample, Scored, load_rubric
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise
from evenhand.judging.dialogues.token_odds import ask_judge_by_logprobs
from tests.judging.scripted import MANNER, Answer, converse, in_turn

RUBRIC = load_rubric({"method": "tree", "criteria": [{"id": "clarity", "asks": "?", "scale": "1-10"}]})


def judge_in_turn(output: str, *replies: Answer) -> tuple[int | None, int]:
    """The score that a judge comes to, and how often it was asked; the last reply is given from then on."""
    given = iter(replies)
    told, asked = converse(
        ask_judge_pointwise(RUBRIC, Sample(outputs={"a": output}), "a", MANNER), lambda _: next(given, replies[-1])
    )
    score = told.answers.scores["clarity"]
    return (int(score.value) if isinstance(score, Scored) else None), len(asked)


def judge_once(output: str, reply: str) -> int | None:
    """The score where a judge that was asked for an object replies the same twice."""
    return judge_in_turn(output, reply)[0]


def judge_line(output: str, *replies: Answer) -> int | None:
    """The score where a judge was asked for some prose and a line; the first reply comes without probabilities."""
    told, _ = converse(
        ask_judge_by_logprobs(RUBRIC, Sample(outputs={"a": output}), "a", MANNER, replies=1),
        in_turn(replies[0], *(replies if len(replies) > 1 else replies * 2)),
    )
    score = told.answers.scores["clarity"]
    return int(score.value) if isinstance(score, Scored) else None
