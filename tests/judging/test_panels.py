"""Panels: anonymous, shuffled, nobody for itself, and incomplete rather than a guess."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from evenhand import InputError, JudgeError, JudgeOptions, Sample, load_rubric
from evenhand.errors import BusyError
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.results import JudgedSample
from evenhand.judging.single_judge import Cascade
from evenhand.model.scale import Scored
from evenhand.models.requests import Model, Reply, Request
from evenhand.scoring.panel import measure_scorecard_disagreement
from evenhand.workflows.judge import resolve_user_sample
from tests.judging.scripted import Scripted, fitting

COUNCIL = load_rubric("council")
OUTPUTS = {"a": "alpha says so", "b": "beta says so", "c": "gamma says so"}
SAMPLE = Sample(input="Who says so?", outputs=OUTPUTS)
CHECKS = load_rubric({"method": "score-ranges", "criteria": [
    {"id": "depth", "score_ranges": {0: "none", 5: "some", 8: "much"}},
]})  # fmt: skip


def _labels(request: Request) -> dict[str, str]:
    """Which output stands behind each letter."""
    task = request.messages[-1].text
    return {
        label: next(id for id, text in OUTPUTS.items() if text in task.split(f"<response-{label}-")[1].split("</")[0])
        for label in request.labels
    }


def reviewer(name: str, **scores: float) -> Scripted:
    """A reviewer that gives every criterion of an output the same score."""

    def answer(request: Request) -> str:
        entries = {}
        for label, output in _labels(request).items():
            one = {"evidence": [], "reason": f"by {name}", "score": scores[output]}
            entries[label] = {"criteria": dict.fromkeys(request.ids, one)}
        return json.dumps({"responses": entries})

    return Scripted(answer, name)


def failing(name: str) -> Scripted:
    """A reviewer whose server is down."""

    def answer(request: Request) -> str:
        raise BusyError("the server is overloaded")

    return Scripted(answer, name)


def _judge(
    *models: Model, sample: Sample = SAMPLE, how: JudgeOptions | None = None, rubric: Any = COUNCIL
) -> JudgedSample:
    return asyncio.run(ask_judges_for_reviews(rubric, sample, models, how or JudgeOptions()))


def test_a_panel_ranks_by_the_mean_of_its_reviewers() -> None:
    """Scores are computed from criteria, the ranking from scores."""
    judged = _judge(reviewer("x", a=9, b=7, c=5), reviewer("y", a=7, b=8, c=5))

    assert [(place.rank, place.id, float(place.score or 0)) for place in judged.scores.ranking or ()] == [
        (1, "a", 8.0),
        (2, "b", 7.5),
        (3, "c", 5.0),
    ]


def test_each_reviewer_sees_an_order_of_its_own_and_the_seed_repeats_it() -> None:
    """Places must not favour anyone, and work must be repeatable."""
    models = [reviewer(name, a=5, b=5, c=5) for name in ("x", "y", "z", "w", "v")]

    first, again = _judge(*models), _judge(*models)
    other = _judge(*models, how=JudgeOptions(seed=1))

    assert len(set(first.orders.values())) > 1
    assert first.orders == again.orders
    assert first.orders != other.orders
    assert all(sorted(order) == ["a", "b", "c"] for order in first.orders.values())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("reviewers", "outputs"), [(2, 2), (3, 3), (4, 2), (4, 4), (2, 4), (6, 3)])
def test_each_output_has_each_place_equally_often(seed: int, reviewers: int, outputs: int) -> None:
    """Drawn independently, two reviewers of two outputs saw the same order for every second seed."""
    sample = Sample(input="Who says so?", outputs={f"o{number}": f"{number} says so" for number in range(outputs)})
    models = [Scripted(lambda _: "no", name=f"r{number}") for number in range(reviewers)]

    orders = list(_judge(*models, sample=sample, how=JudgeOptions(seed=seed)).orders.values())

    for place in range(outputs):
        times = Counter(order[place] for order in orders)
        least = times.total() // outputs
        assert all(least <= times[output] <= -(-times.total() // outputs) for output in sample.outputs)
    assert len(set(orders)) == min(reviewers, 2 if outputs == 2 else 2 * outputs)


@pytest.mark.parametrize("seed", range(20))
def test_places_are_balanced_where_reviewers_do_not_score_their_own(seed: int) -> None:
    """Three authors who review each other: each response is first once and second once."""
    models = [Scripted(lambda _: "no", name=name) for name in ("x", "y", "z")]
    sample = replace(SAMPLE, authors={"a": "x", "b": "y", "c": "z"})

    orders = _judge(*models, sample=sample, how=JudgeOptions(seed=seed)).orders

    assert sorted(order[0] for order in orders.values()) == ["a", "b", "c"]
    assert sorted(order[1] for order in orders.values()) == ["a", "b", "c"]


def test_a_further_reviewer_changes_no_order_of_the_others() -> None:
    """What the others have answered stays the answer to what they are asked."""
    models = [Scripted(lambda _: "no", name=name) for name in ("x", "y", "z", "w")]

    few, more = _judge(*models[:2]).orders, _judge(*models).orders

    assert {name: more[name] for name in few} == few


def test_a_reviewer_that_sees_one_output_at_a_time_takes_no_place_from_others() -> None:
    """Between the two that see all outputs stands one that does not: their orders still differ."""
    names = ("x", "openai-decisions/NAME", "y")
    sample = Sample(input="?", outputs={"a": "alpha says so", "b": "beta says so"})

    orders = _judge(*(Scripted(lambda _: "no", name=name) for name in names), sample=sample).orders

    assert orders["x"] == orders["y"][::-1]


def test_a_reviewer_reads_neither_names_nor_files() -> None:
    """Responses are anonymous."""
    model = reviewer("x", a=5, b=5, c=5)
    sample = Sample(input="?", outputs=OUTPUTS, authors={"a": "secret-model"})

    _judge(model, sample=sample)

    assert "secret-model" not in str(model.asked[0].messages)


def test_a_reviewer_is_never_shown_its_own_response() -> None:
    """It cannot vote for itself, and cannot compare others with itself."""
    sample = Sample(input="?", outputs=OUTPUTS, authors={"a": "x"})
    x, y = reviewer("x", a=10, b=5, c=5), reviewer("y", a=2, b=5, c=5)

    judged = _judge(x, y, sample=sample)

    assert len(x.asked[0].labels) == 2
    assert float(judged.scores["a"].score or 0) == 2.0


def test_self_votes_count_where_they_are_asked_for() -> None:
    """`self_votes: true` in the rubric."""
    rubric = load_rubric({"method": "council", "panel": {"self_votes": True}})
    sample = Sample(input="?", outputs=OUTPUTS, authors={"a": "x"})

    judged = _judge(reviewer("x", a=10, b=5, c=5), reviewer("y", a=2, b=5, c=5), sample=sample, rubric=rubric)

    assert float(judged.scores["a"].score or 0) == 6.0


def test_one_of_two_judges_dead_is_not_a_unanimous_panel() -> None:
    """Elsewhere such a panel scored 1.0 with no error."""
    judged = _judge(reviewer("x", a=9, b=9, c=9), failing("y"))

    assert all(card.exact is None for card in judged.scores.scorecards)
    assert "1 of 2 reviewers scored it: too few to decide" in judged.scores["a"].notes


def test_a_quorum_decides_and_says_who_was_missing() -> None:
    """Two of three are more than half; the third is counted, not dropped."""
    judged = _judge(reviewer("x", a=9, b=7, c=7), reviewer("y", a=9, b=7, c=7), failing("z"))

    assert float(judged.scores["a"].score or 0) == 9.0
    assert any(note.startswith("z not counted: ") for note in judged.scores["a"].notes)
    view = measure_scorecard_disagreement(judged.scores)
    assert view is not None
    assert [judge for judge, _ in view.silent] == ["z"]


def test_a_reviewer_that_refuses_abstains() -> None:
    """A refusal counts against the quorum and is told as what it is."""
    refusing = Scripted(lambda _: "I'm sorry, but I cannot evaluate these responses.", "y")

    judged = _judge(reviewer("x", a=9, b=7, c=7), refusing, reviewer("z", a=9, b=7, c=7))

    assert any("y not counted: abstained: I'm sorry" in note for note in judged.scores["a"].notes)


def test_an_output_that_nobody_may_judge_is_said_to_be_without_a_score() -> None:
    """It never drops out silently: not of a panel, not of a cascade, not where everybody refuses."""
    sample = Sample(input="?", outputs=OUTPUTS, authors={"a": "x"})
    refusing = Scripted(lambda _: "I'm sorry, but I cannot evaluate these responses.", "y")

    alone = _judge(reviewer("x", a=9, b=7, c=7), sample=sample)
    cascaded = _judge(reviewer("x", a=9, b=7, c=7), failing("y"), sample=sample, how=JudgeOptions(cascade=Cascade()))
    refused = _judge(refusing, sample=sample)

    assert [card.id for card in alone.scores.scorecards] == ["a", "b", "c"]
    assert alone.scores["a"].exact is None
    assert alone.scores["b"].exact is not None
    assert cascaded.scores["a"].exact is None
    assert [card.exact for card in refused.scores.scorecards] == [None, None, None]


def test_a_holistic_score_stands_in_where_the_rubric_cannot_be_read() -> None:
    """It is marked, and enters the mean of scores but no criterion."""

    def answer(request: Request) -> str:
        return json.dumps({"responses": dict.fromkeys(request.labels, 6)})

    judged = _judge(Scripted(answer, "x"), reviewer("y", a=8, b=8, c=8), reviewer("z", a=8, b=8, c=8))

    card = judged.scores["a"]
    assert card.reviews is not None
    assert [review.holistic for review in card.reviews] == [True, False, False]
    assert card.score is not None and abs(float(card.score) - 7.33) < 0.01


def _with_whole(name: str, **beside: object) -> Scripted:
    def answer(request: Request) -> str:
        data = json.loads(reviewer(name, a=8, b=7, c=6)._answer(request))  # type: ignore[arg-type]
        return json.dumps({"responses": {label: {**said, **beside} for label, said in data["responses"].items()}})

    return Scripted(answer, name)


def test_the_prompt_of_a_panel_has_every_question_and_its_weight() -> None:
    """Who is to weigh something must know what it weighs."""
    judge = reviewer("x", a=9, b=7, c=5)
    _judge(judge)

    text = judge.asked[0].messages[0].text
    assert "(35% of the score; a number from 1 to 10, decimals allowed)" in text
    assert [one.asks.count("?") for one in COUNCIL.criteria] == [3, 2, 3, 3, 3]
    assert all(one.asks in text for one in COUNCIL.criteria)
    assert '"notes": "…"' in text


def test_notes_of_reviewers_are_kept_and_shown() -> None:
    """Per response, with whose they are."""
    judged = _judge(_with_whole("x", notes="Solid,\nbut long."), reviewer("y", a=8, b=8, c=8))

    card = judged.scores["a"]
    assert card.reviews is not None
    assert [one.remark for one in card.reviews] == ["Solid, but long.", ""]
    assert "x notes: Solid, but long." in card.notes
    assert _judge(_with_whole("x", notes="Solid."), sample=Sample(outputs={"a": OUTPUTS["a"]})).scores["a"].notes == (
        "notes: Solid.",
    )


def test_a_score_for_the_whole_is_asked_beside_the_criteria_and_decides_nothing() -> None:
    """It is kept for measuring: the score comes from the criteria."""
    rubric = replace(COUNCIL, holistic=True)
    judges = [_with_whole("x", holistic=3), _with_whole("y", holistic=4)]
    judged = _judge(*judges, rubric=rubric)

    card = judged.scores["a"]
    assert '"holistic": <a number from 1 to 10, decimals allowed>' in judges[0].asked[0].messages[0].text
    assert (card.exact, card.whole) == (Fraction(8), Scored(Fraction(7, 2)))
    assert card.holistic is None
    assert judged.scores.fingerprint != _judge(*judges).scores.fingerprint


def test_a_score_for_the_whole_does_not_stand_in_for_an_abstention() -> None:
    """Who says that it cannot assess has answered by the rubric."""

    def answer(request: Request) -> str:
        one = {"evidence": [], "reason": "no source", "score": "cannot assess"}
        said = {"criteria": dict.fromkeys(request.ids, one), "notes": "", "holistic": 9}
        return json.dumps({"responses": dict.fromkeys(request.labels, said)})

    card = _judge(Scripted(answer, "x"), rubric=replace(COUNCIL, holistic=True)).scores["a"]

    assert (card.exact, card.holistic) == (None, None)


def test_other_methods_ask_for_a_score_for_the_whole_on_their_own_scale() -> None:
    """Where a method has no scale for it, that of its score."""
    judge = Scripted(fitting("says so"), "x")
    judged = _judge(judge, rubric=replace(load_rubric("judge-skill"), holistic=True))

    assert "Score for the whole" in judge.asked[0].messages[0].text
    assert judged.scores["a"].whole is not None
    assert judged.scores["a"].holistic is None


def test_a_claimed_ranking_is_only_a_claim() -> None:
    """The ranking is derived from the scores; a list that contradicts them is noted."""
    base = reviewer("x", a=9, b=7, c=5)

    def answer(request: Request) -> str:
        letters = {output: label for label, output in _labels(request).items()}
        reply = json.loads(base._answer(request))  # type: ignore[arg-type]
        return json.dumps({**reply, "ranking": [f"Response {letters[id]}" for id in ("c", "b", "a")]})

    judged = _judge(Scripted(answer, "x"), reviewer("y", a=9, b=7, c=5))
    alone = _judge(Scripted(answer, "x"))

    assert (judged.scores.ranking or ())[0].id == "a"
    assert "x claims the ranking c, b, a; its scores give a, b, c" in judged.scores.notes
    assert alone.scores.notes == ("x claims the ranking c, b, a; its scores give a, b, c",)


def test_weights_of_reviewers_count_and_are_told() -> None:
    """A reviewer of weight 3 counts three times."""
    judged = _judge(
        reviewer("x", a=8, b=8, c=8), reviewer("y", a=9, b=8, c=8), how=JudgeOptions(weights={"y": Fraction(3)})
    )

    assert float(judged.scores["a"].score or 0) == 8.75
    assert "y 9.00 (weight 3)" in judged.scores["a"].explain()[0]


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [((7, 8, 9), (1, 1, 1), 8.0), ((7, 9), (1, 1), 8.0), ((7, 8, 9), (5, 1, 1), 7.0), ((7, 8, 9), (2, 1, 1), 7.5)],
)
def test_the_median_goes_by_weight(values: tuple[int, ...], weights: tuple[int, ...], expected: float) -> None:
    """Half of the weight lies on either side."""
    rubric = load_rubric({"method": "council", "panel": {"aggregate": "median"}})
    names = "xyz"[: len(values)]
    models = [reviewer(name, a=value, b=8, c=8) for name, value in zip(names, values, strict=True)]

    judged = _judge(
        *models, rubric=rubric, how=JudgeOptions(weights=dict(zip(names, map(Fraction, weights), strict=True)))
    )

    assert float(judged.scores["a"].score or 0) == expected


def test_a_weight_for_nobody_is_refused() -> None:
    """A misspelt judge would silently weigh 1."""
    with pytest.raises(JudgeError, match="did you mean 'reviewer'"):
        _judge(reviewer("reviewer", a=8, b=8, c=8), how=JudgeOptions(weights={"reviewr": Fraction(2)}))


def test_one_judge_named_twice_is_refused() -> None:
    """Two votes of one judge are not two judges."""
    with pytest.raises(JudgeError, match="named twice"):
        _judge(reviewer("x", a=8, b=8, c=8), reviewer("x", a=8, b=8, c=8))


def test_harshness_dissent_and_disagreement_are_part_of_the_result() -> None:
    """Where reviewers differ is worth as much as where they agree."""
    judged = _judge(reviewer("x", a=8, b=7, c=7), reviewer("y", a=8, b=7, c=7), reviewer("z", a=5, b=6, c=5))

    view = measure_scorecard_disagreement(judged.scores)

    assert view is not None
    accuracy = view.differing[0]
    assert (accuracy.criterion, accuracy.output, accuracy.mean_gap) == ("accuracy", "a", Fraction(2))
    assert (accuracy.low, accuracy.high) == ((Fraction(5), "z"), (Fraction(8), "x"))
    assert {one.judge: one.by for one in view.harshness} == {"x": 1, "y": 1, "z": -2}
    assert [(one.judge, one.first) for one in view.dissent] == [("z", ("b",))]


def test_a_deadline_ends_a_slow_reviewer_and_keeps_the_others() -> None:
    """One that never answers costs its own vote, and the result says so."""

    class Slow(Scripted):
        async def ask(self, request: Request) -> Reply:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets the event")

    judged = _judge(
        reviewer("x", a=9, b=7, c=7),
        reviewer("y", a=9, b=7, c=7),
        Slow(lambda _: "", "slow"),
        how=JudgeOptions(deadline=0.05),
    )

    assert float(judged.scores["a"].score or 0) == 9.0
    assert any("slow not counted" in note and "missed its deadline" in note for note in judged.scores["a"].notes)


def _scorer(name: str, score: object) -> Scripted:
    def answer(request: Request) -> str:
        quote = next(text for text in OUTPUTS.values() if text in request.messages[-1].text)
        return json.dumps({"criteria": {"depth": {"evidence": [quote], "reason": "r", "score": score}}})

    return Scripted(answer, name)


@pytest.mark.parametrize(
    ("score", "asks_the_next"),
    [(10, False), (8, True), (6, True), (3, False), ("cannot assess", True), ("junk", True)],
)
def test_a_cascade_asks_the_next_judge_only_where_it_matters(score: object, asks_the_next: bool) -> None:
    """Near a threshold, unsure or unreadable: the stronger judge decides; elsewhere it is not paid for."""
    cheap, strong = _scorer("cheap", score), _scorer("strong", 9)
    sample = Sample(outputs={"a": OUTPUTS["a"]})

    judged = _judge(cheap, strong, sample=sample, rubric=CHECKS, how=JudgeOptions(cascade=Cascade()))

    assert bool(strong.asked) is asks_the_next
    assert judged.decided_by == {"a": "strong" if asks_the_next else "cheap"}
    assert judged.saved is not None
    assert (judged.saved.outputs, judged.saved.of) == (0 if asks_the_next else 1, 1)


def test_a_cascade_over_a_ranking_asks_again_where_the_first_place_is_close() -> None:
    """Without thresholds the winner is the decision."""
    close = _judge(
        reviewer("cheap", a=8, b=7.9, c=3), reviewer("strong", a=5, b=8, c=3), how=JudgeOptions(cascade=Cascade())
    )
    clear = _judge(
        reviewer("cheap", a=9, b=7, c=3), reviewer("strong", a=5, b=8, c=3), how=JudgeOptions(cascade=Cascade())
    )

    assert (close.scores.ranking or ())[0].id == "b"
    assert set(clear.decided_by.values()) == {"cheap"}


def test_a_sample_without_outputs_is_refused() -> None:
    """There is nothing to judge."""
    with pytest.raises(InputError, match="at least one output"):
        resolve_user_sample(Sample(input="Where is my parcel?"))
    with pytest.raises(InputError, match="is empty"):
        Sample(outputs={"a": "  "})


def test_the_fingerprint_knows_the_prompts_the_judges_and_their_settings() -> None:
    """Scores that were asked for otherwise are not silently compared."""
    x: Callable[[], Scripted] = lambda: reviewer("x", a=8, b=8, c=8)  # noqa: E731
    marks = {
        _judge(x()).scores.fingerprint,
        _judge(x(), how=JudgeOptions(language="zh")).scores.fingerprint,
        _judge(x(), how=JudgeOptions(each=True)).scores.fingerprint,
        _judge(reviewer("y", a=8, b=8, c=8)).scores.fingerprint,
        _judge(x(), how=JudgeOptions(weights={"x": Fraction(2)})).scores.fingerprint,
    }

    assert len(marks) == 5
    assert _judge(x()).scores.fingerprint == _judge(x(), how=JudgeOptions(seed=9)).scores.fingerprint
