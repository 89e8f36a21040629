"""Judging a sample: every judge is asked about every output it may judge, and the answers become scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations

from evenhand.errors import Fault, JudgeError, nearest
from evenhand.judging._advice import Advice, most_severe
from evenhand.judging._cascade import Price, cascade
from evenhand.judging._driver import Driver, together
from evenhand.judging._form import judged
from evenhand.judging._how import How
from evenhand.judging._judged import Judged, Preferred, Standing
from evenhand.judging._opinion import by_odds, manner_of, may_judge, opinion
from evenhand.judging._prompts import load_prompts
from evenhand.judging._request import EMBEDDED, Model, version_of
from evenhand.judging._told import Preference, Suggestion, Told
from evenhand.judging.dialogues import pairwise
from evenhand.judging.reading import FIELD_NAMES, canonical
from evenhand.model import Answers, Kept, Rubric, Sample, exact
from evenhand.scoring import Asked, score_outputs, score_reviews

DEFAULT = How()


async def judge_sample(
    rubric: Rubric, sample: Sample, models: Sequence[Model], how: How = DEFAULT, price: Price | None = None
) -> Judged:
    """Ask every judge and score what they say. `price` tells what a reply costs, for what a cascade saves."""
    drivers = _drivers(models, how)
    asked = asked_of(rubric, models, how)  # Refuses a rubric that replies could not be read for, once.
    if how.cascade is not None:
        return await cascade(rubric, sample, drivers, how, asked, price)
    opinions = await together([opinion(rubric, sample, list(sample.outputs), driver, how) for driver in drivers])
    alone = len(opinions) == 1 and opinions[0].told.keys() == sample.outputs.keys() and not opinions[0].abstained
    scores = (
        score_outputs(rubric, [told.answers for told in opinions[0].told.values()], asked)
        if alone
        else score_reviews(rubric, [one.review(how) for one in opinions], asked, _known(sample))
    )
    told = [(output, told) for one in opinions for output, told in one.told.items()]
    return Judged(
        scores=scores,
        judgments=tuple(judgment for _, one in told for judgment in one.judgments),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
        suggestions=_advice(told),
        orders={one.judge: one.order for one in opinions if one.order},
        findings=sample.findings,
    )


async def prefer_sample(rubric: Rubric, sample: Sample, models: Sequence[Model], how: How = DEFAULT) -> Preferred:
    """Ask every judge about every pair of outputs, in both orders."""
    if len(sample.outputs) < 2:
        raise JudgeError("a preference needs two outputs or more")
    drivers = _drivers(models, how)
    if any(model.name == EMBEDDED for model in models):
        raise JudgeError(
            Fault(f"{EMBEDDED} cannot compare outputs: it reads one at a time", "name a model, as in openai/NAME")
        )
    if how.each or how.samples > 1 or how.logprobs or how.cascade or how.weights or how.refuse:
        raise JudgeError("pairs are asked as they are: without each, samples, logprobs, cascade, weights and refuse")
    pairs = list(combinations(sample.outputs, 2))
    preferences = await together(
        [
            driver.run(pairwise(rubric, sample, first, second, manner_of(driver.model, how)))
            for driver in drivers
            for first, second in pairs
            if may_judge(rubric, sample, driver.model.name, first, second)
        ]
    )
    if not preferences:
        raise JudgeError("no pair is left: a judge does not compare its own output")
    return Preferred(
        preferences=tuple(preferences),
        standings=tuple(_standing(output, preferences) for output in sample.outputs),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
    )


def _advice(told: Sequence[tuple[str, Told]]) -> dict[str, Advice]:
    """By output two suggestions: of several judges' the most severe, the first judge's first."""
    given: dict[str, list[Suggestion]] = {}
    for output, one in told:
        given.setdefault(output, []).extend(one.suggestions)
    return {output: most_severe(several) for output, several in given.items() if several}


def _known(sample: Sample) -> list[Answers]:
    """Every output with its author, before anybody speaks of it."""
    return [Answers(id=output, author=sample.authors.get(output)) for output in sample.outputs]


def _refuse_alike(rubric: Rubric) -> None:
    """Ids that a reply cannot tell apart, or that are the names of its own fields."""
    seen: dict[str, str] = {}
    for id in (leaf.id for leaf in judged(rubric)):
        plain = canonical(id)
        if plain in FIELD_NAMES:
            what = f"a criterion called {id!r} cannot be judged: replies have a field of that name"
            raise JudgeError(Fault(what, "give it another id"))
        if plain in seen:
            raise JudgeError(Fault(f"the ids {seen[plain]!r} and {id!r} read alike in a reply", "give one another id"))
        seen[plain] = id


def _drivers(models: Sequence[Model], how: How) -> list[Driver]:
    if not isinstance(how, How):
        raise JudgeError(f"how must be a How, got {type(how).__name__}")
    names = [model.name for model in models]
    if not names:
        raise JudgeError(Fault("no judge was named", "as in judges=['openai/NAME']"))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise JudgeError(Fault(f"the judge {twice!r} is named twice", "to ask one judge several times, use samples"))
    if EMBEDDED in names and (how.samples > 1 or how.logprobs):
        what = f"{EMBEDDED} gives the same answer each time, so samples and logprobs would say nothing of its spread"
        raise JudgeError(Fault(what, "name a model, as in openai/NAME"))
    if how.cascade is not None and len(names) < 2:
        raise JudgeError(Fault("a cascade needs two judges or more", "the cheap one first"))
    unknown = [name for name in how.weights if name not in names]
    if unknown:
        raise JudgeError(Fault(f"a weight for {unknown[0]!r}, which is not a judge here", nearest(unknown[0], names)))
    return [Driver(model, how.deadline) for model in models]


def asked_of(rubric: Rubric, models: Sequence[Model], how: How) -> Asked:
    """Who is asked what, for the fingerprint. The seed is in it only where it reaches the models."""
    names = [name for model in models for name in (model.name, version_of(model))]
    return _ASKED.get((rubric, how, *names), lambda: _who_was_asked(rubric, models, how))


_ASKED: Kept[Asked] = Kept()


def _who_was_asked(rubric: Rubric, models: Sequence[Model], how: How) -> Asked:
    _refuse_alike(rubric)
    prompts = load_prompts(how.language)
    alone = how.each or how.samples > 1
    dialogue: str = "pointwise" if alone and rubric.method.dialogue == "listwise" else rubric.method.dialogue
    dialogue = "sampled" if how.logprobs else dialogue
    dialogues = {"odds" if by_odds(model.name, how) else dialogue for model in models}
    repeated = {"seed": how.seed} if how.samples > 1 or how.logprobs else {}
    manner = {"each": how.each, "samples": how.samples, "logprobs": how.logprobs, "cascade": how.cascade, **repeated}
    judges = [
        {
            "name": model.name,
            "weight": exact(how.weights.get(model.name, 1)),
            **_version(model),
            **asdict(how.settings),
            **manner,
        }
        for model in models
    ]
    texts = {name: text for one in sorted(dialogues) for name, text in prompts.used(one).items()}
    return Asked(prompts=texts, judges=judges)


def _version(model: Model) -> dict[str, str]:
    version = version_of(model)
    return {"version": version} if version else {}


def _standing(output: str, preferences: Sequence[Preference]) -> Standing:
    own = [one for one in preferences if output in (one.first, one.second)]
    decided = [one for one in own if not one.why_not]
    won = sum(one.winner == output for one in decided)
    tied = sum(one.winner is None for one in decided)
    return Standing(
        output=output, won=won, tied=tied, lost=len(decided) - won - tied, undecided=len(own) - len(decided)
    )
