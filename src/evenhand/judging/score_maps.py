"""Judges' scores put on people's scale by maps, each only where the judge is asked as it was when the map was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from evenhand.errors import Fault, JudgeError
from evenhand.judging.results import OutputReview
from evenhand.model.scale import CriterionScore, Scored
from evenhand.model.score_map import ScoreMap


def map_review_to_people(review: OutputReview, maps: Mapping[str, ScoreMap]) -> OutputReview:
    """What a judge said of an output with its scores on people's scale, each beside the one that it gave."""
    if not maps:
        return review

    def mapped(criterion: str, score: CriterionScore) -> CriterionScore:
        if criterion not in maps or not isinstance(score, Scored):
            return score
        return Scored(maps[criterion].map_score(score.value), why=score.why)

    scores = {id: mapped(id, score) for id, score in review.answers.scores.items()}
    judgments = tuple(
        replace(one, score=mapped(one.criterion, one.score), raw=one.score.value)
        if one.criterion in maps and isinstance(one.score, Scored)
        else one
        for one in review.judgments
    )
    return replace(review, answers=replace(review.answers, scores=scores), judgments=judgments)


def refuse_foreign_score_maps(maps: Sequence[ScoreMap], known: Mapping[str, Sequence[str]]) -> None:
    """An error for maps of judges that are asked otherwise now; `known` are the fingerprints by judge."""
    if faults := list(_list_foreign_score_maps(maps, known)):
        raise JudgeError(*faults)


def _list_foreign_score_maps(maps: Sequence[ScoreMap], known: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    for one in maps:
        if one.judge not in known:
            yield Fault(f"a map for {one.judge!r}, which is not a judge here", "remove it, or name the judge")
        elif one.fingerprint not in known[one.judge]:
            now = " or ".join(dict.fromkeys(known[one.judge]))
            what = (
                f"the map of {one.judge} on {one.criterion} is for fingerprint {one.fingerprint}, and it is {now} now"
            )
            yield Fault(what, "the rubric, a prompt or the judge changed: label again, then evenhand calibrate --maps")
