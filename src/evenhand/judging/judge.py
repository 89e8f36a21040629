"""A sample judged by all judges: their reviews scored, or their preferences between pairs counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import combinations

from evenhand.errors import Fault, JudgeError, suggest_known_word_in_error
from evenhand.judging.answer_form import list_example_prompt_texts, list_judged_criteria
from evenhand.judging.dialogues.listwise import ask_judge_pairwise
from evenhand.judging.evidence import pick_severest_reply_suggestions
from evenhand.judging.prompts import load_prompts
from evenhand.judging.reading.json_answers import FIELD_NAMES
from evenhand.judging.reading.reply_text import normalize_reply_answer_name
from evenhand.judging.results import (
    JudgedSample,
    PairwiseJudgeStanding,
    Preference,
    Preferences,
    Suggestion,
    map_review_to_people,
    refuse_foreign_score_maps,
)
from evenhand.judging.second_judgments import PriceLookup, judge_by_cascade
from evenhand.judging.single_judge import (
    DialogueDriver,
    JudgeOpinion,
    JudgeOptions,
    ask_judge_opinion,
    assign_orders_to_judges,
    await_judges_in_order,
    find_passage_unsafe_to_judge,
    judges_by_odds,
    make_judge_dialogue_setup,
    measure_rubric_work,
    run_text_work,
)
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scale import to_exact_fraction
from evenhand.model.scorecard import Answers, ScoreMap
from evenhand.models.model_names import is_decision_model_name
from evenhand.models.requests import EMBEDDED, Model, read_model_version
from evenhand.scoring.scores import (
    JudgingSetup,
    compute_fingerprint,
    compute_scorecards_and_ranks,
    note_reviewer_ranks_against_scorecards,
    score_reviews,
)

DEFAULT_OPTIONS = JudgeOptions()


ReviewListener = Callable[[Sample, JudgedSample], None]
_LISTENERS: list[ReviewListener] = []  # Whoever counts and traces looks on; nobody changes what comes out.


@contextmanager
def listen_to_judge_reviews(listener: ReviewListener) -> Iterator[None]:
    """Have every sample that judges review shown to a function, in whichever thread that is."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


async def ask_judges_for_reviews(
    rubric: Rubric,
    sample: Sample,
    models: Sequence[Model],
    how: JudgeOptions = DEFAULT_OPTIONS,
    price: PriceLookup | None = None,
    draw: bool | None = None,
) -> JudgedSample:
    """Ask every judge and score what they say.

    `price` tells what a reply costs, for what a cascade saves, and `draw` whether its random part has the sample.
    """
    if rubric.method.dialogue == "pairwise":
        what = f"the rubric {rubric.name!r} compares outputs in pairs and scores none"
        raise JudgeError(Fault(what, "remove 'dialogue: pairwise', or give two outputs and ask for preferences"))
    drivers = _create_judge_dialogue_drivers(models, how)
    # Refuses a rubric that replies could not be read for, once.
    asked = collect_judge_prompt_fingerprint(rubric, models, how)
    if rubric.method.dialogue == "listwise":
        assign_orders_to_judges(rubric, sample, drivers, how)
    if how.cascade is not None:
        judged = await judge_by_cascade(rubric, sample, drivers, how, asked, price, draw)
    else:
        outputs = list(sample.outputs)
        if len(drivers) == 1:  # One alone needs nobody who waits for several.
            opinions = [await ask_judge_opinion(rubric, sample, outputs, drivers[0], how)]
        else:
            several = [ask_judge_opinion(rubric, sample, outputs, driver, how) for driver in drivers]
            opinions = await await_judges_in_order(several)
        work = measure_rubric_work(rubric, len(outputs) * len(drivers))
        judged = await run_text_work(work, _score_judge_opinions, rubric, sample, opinions, drivers, how, asked)
    for listener in _LISTENERS:
        listener(sample, judged)
    return judged


def _score_judge_opinions(
    rubric: Rubric,
    sample: Sample,
    opinions: Sequence[JudgeOpinion],
    drivers: Sequence[DialogueDriver],
    how: JudgeOptions,
    asked: JudgingSetup,
) -> JudgedSample:
    if how.maps:
        opinions = [
            _map_judge_opinion(rubric, one, driver.model, how) for one, driver in zip(opinions, drivers, strict=True)
        ]
    alone = len(opinions) == 1 and opinions[0].reviews.keys() == sample.outputs.keys() and not opinions[0].abstained
    if alone:
        scores = compute_scorecards_and_ranks(rubric, [told.answers for told in opinions[0].reviews.values()], asked)
        if opinions[0].ranking:
            claims = note_reviewer_ranks_against_scorecards(rubric, [opinions[0].review(how)])
            scores = replace(scores, notes=(*scores.notes, *claims)) if claims else scores
    else:
        authors = [Answers(id=output, author=sample.authors.get(output)) for output in sample.outputs]
        scores = score_reviews(rubric, [one.review(how) for one in opinions], asked, authors)
    told = [(opinion.judge, output, review) for opinion in opinions for output, review in opinion.reviews.items()]
    # By output two suggestions: of several judges' the most severe, the first judge's first.
    given: dict[str, list[Suggestion]] = {}
    bands: dict[str, dict[str, str]] = {}  # By output and judge: the band that the judge claims for the whole.
    for judge, output, review in told:
        if review.suggestions:
            given.setdefault(output, []).extend(review.suggestions)
        if isinstance(band := review.answers.claims.get("overall_band"), str):
            bands.setdefault(output, {})[judge] = band
    return JudgedSample(
        scores=scores,
        judgments=tuple([judgment for _, _, review in told for judgment in review.judgments]),
        calls=tuple([call for driver in drivers for call in driver.calls]),
        seed=how.seed,
        suggestions={output: pick_severest_reply_suggestions(several) for output, several in given.items()},
        overall_bands=bands,
        orders={one.judge: one.order for one in opinions if one.order},
        findings=sample.findings,
    )


def _map_judge_opinion(rubric: Rubric, opinion: JudgeOpinion, model: Model, how: JudgeOptions) -> JudgeOpinion:
    maps = find_judge_maps(rubric, model, how)
    return replace(opinion, reviews={id: map_review_to_people(one, maps) for id, one in opinion.reviews.items()})


async def ask_judges_for_preferences(
    rubric: Rubric, sample: Sample, models: Sequence[Model], how: JudgeOptions = DEFAULT_OPTIONS
) -> Preferences:
    """Ask every judge about every pair of outputs, in both orders; one that fails the safety gate loses unasked."""
    if len(sample.outputs) < 2:
        raise JudgeError("a preference needs two outputs or more")
    drivers = _create_judge_dialogue_drivers(models, how)
    _refuse_decision_models_as_judges(replace(rubric, method=replace(rubric.method, dialogue="pairwise")), models, how)
    if any(model.name == EMBEDDED for model in models):
        raise JudgeError(
            Fault(f"{EMBEDDED} cannot compare outputs: it reads one at a time", "name a model, as in openai/NAME")
        )
    if how.each or how.samples > 1 or how.logprobs or how.cascade or how.weights or how.refuse:
        raise JudgeError("pairs are asked as they are: without each, samples, logprobs, cascade, weights and refuse")
    authors = {} if rubric.method.panel.self_votes else sample.authors  # Nobody scores its own response.
    pairs = list(combinations(sample.outputs, 2))
    gated = {output: find_passage_unsafe_to_judge(rubric, sample, output) for output in sample.outputs}
    unsafe = {output: found for output, found in gated.items() if found}

    async def compare(driver: DialogueDriver, first: str, second: str) -> Preference:
        if first in unsafe or second in unsafe:
            return _prefer_safe_output_for_judge(driver.model.name, first, second, unsafe)
        return await driver.run(
            ask_judge_pairwise(rubric, sample, first, second, make_judge_dialogue_setup(driver.model, how))
        )

    preferences = await await_judges_in_order(
        [
            compare(driver, first, second)
            for driver in drivers
            for first, second in pairs
            if driver.model.name not in (authors.get(first), authors.get(second))
        ]
    )
    if not preferences:
        raise JudgeError("no pair is left: a judge does not compare its own output")
    return Preferences(
        preferences=tuple(preferences),
        standings=tuple(_count_pairwise_judge_votes(output, preferences) for output in sample.outputs),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
        findings=sample.findings,
        unsafe=unsafe,
    )


def _prefer_safe_output_for_judge(
    judge: str, first: str, second: str, unsafe: Mapping[str, GuardFinding]
) -> Preference:
    """The safe one of two wins; where neither is, it is a tie."""
    safe = [output for output in (first, second) if output not in unsafe]
    failed = [(output, unsafe[output]) for output in (first, second) if output in unsafe]
    why = "; ".join(f"{output} is unsafe, {found.rule}: “{found.text}”" for output, found in failed)
    return Preference(judge=judge, first=first, second=second, winner=safe[0] if safe else None, gate=why)


async def ask_pairwise_judge_dialogues(
    rubric: Rubric, sample: Sample, models: Sequence[Model], how: JudgeOptions
) -> Preferences:
    """The same for one sample of many, some of which may have no pair that a judge could compare."""
    judges = {model.name for model in models}
    authors = {} if rubric.method.panel.self_votes else sample.authors
    if not any(judges - {authors.get(one), authors.get(other)} for one, other in combinations(sample.outputs, 2)):
        return Preferences(preferences=(), standings=(), calls=(), seed=how.seed)
    return await ask_judges_for_preferences(rubric, sample, models, replace(how, weights={}))


def _create_judge_dialogue_drivers(models: Sequence[Model], how: JudgeOptions) -> list[DialogueDriver]:
    if not isinstance(how, JudgeOptions):
        raise JudgeError(f"how must be a How, got {type(how).__name__}")
    names = [model.name for model in models]
    if not names:
        raise JudgeError(Fault("no judge was named", "as in judges=['openai/NAME']"))
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise JudgeError(Fault(f"the judge {twice!r} is named twice", "to ask one judge several times, use samples"))
    if EMBEDDED in names and (how.samples > 1 or how.logprobs):
        what = f"{EMBEDDED} gives the same answer each time, so samples and logprobs would say nothing of its spread"
        raise JudgeError(Fault(what, "name a model, as in openai/NAME"))
    if how.cascade is not None and len(names) != 2:
        what = f"a cascade has two judges, got {len(names)}"
        raise JudgeError(Fault(what, "the cheap one first, then the strong one"))
    unknown = [name for name in how.weights if name not in names]
    if unknown:
        hint = suggest_known_word_in_error(unknown[0], names)
        raise JudgeError(Fault(f"a weight for {unknown[0]!r}, which is not a judge here", hint))
    return [DialogueDriver(model, how.deadline) for model in models]


def collect_judge_prompt_fingerprint(rubric: Rubric, models: Sequence[Model], how: JudgeOptions) -> JudgingSetup:
    """Who is asked what, for the fingerprint. The seed is in it only where it reaches the models."""
    names = [name for model in models for name in (model.name, read_model_version(model))]
    return _JUDGE_FINGERPRINTS.get((rubric, how, *names), lambda: _build_judge_prompt_fingerprint(rubric, models, how))


_JUDGE_FINGERPRINTS: RubricIdentityCache[JudgingSetup] = RubricIdentityCache()


def _build_judge_prompt_fingerprint(rubric: Rubric, models: Sequence[Model], how: JudgeOptions) -> JudgingSetup:
    seen: dict[str, str] = {}  # No ids that a reply cannot tell apart, or that are the names of its own fields.
    for id in (leaf.id for leaf in list_judged_criteria(rubric)):
        plain = normalize_reply_answer_name(id)
        if plain in FIELD_NAMES:
            what = f"a criterion called {id!r} cannot be judged: replies have a field of that name"
            raise JudgeError(Fault(what, "give it another id"))
        if plain in seen:
            raise JudgeError(Fault(f"the ids {seen[plain]!r} and {id!r} read alike in a reply", "give one another id"))
        seen[plain] = id
    prompts = load_prompts(how.language, ignore_length=how.ignore_length)
    alone = how.each or how.samples > 1
    dialogue: str = "pointwise" if alone and rubric.method.dialogue == "listwise" else rubric.method.dialogue
    dialogue = "sampled" if how.logprobs else dialogue
    deciding = {model.name for model in models if is_decision_model_name(model.name)}
    if deciding:
        _refuse_decision_models_as_judges(rubric, models, how)
    dialogues = {
        "decisions"
        if model.name in deciding
        else "odds"
        if judges_by_odds(model.name, how) and dialogue != "pairwise"
        else dialogue
        for model in models
    }
    repeated = {"seed": how.seed} if how.samples > 1 or how.logprobs else {}
    manner = {"each": how.each, "samples": how.samples, "logprobs": how.logprobs, "cascade": how.cascade, **repeated}
    judges = []
    for model in models:
        weight, version = to_exact_fraction(how.weights.get(model.name, 1)), read_model_version(model)
        told = {"version": version} if version else {}
        judges.append({"name": model.name, "weight": weight, **told, **asdict(how.settings), **manner})
        if how.maps and (own := find_judge_maps(rubric, model, how)):
            judges[-1]["maps"] = {criterion: one.points for criterion, one in own.items()}
    texts = {name: text for one in sorted(dialogues) for name, text in prompts.used(one).items()}
    if any(leaf.examples for leaf in rubric.leaves.values()):
        texts |= list_example_prompt_texts(prompts.language)
    return JudgingSetup(prompts=texts, judges=judges)


def _refuse_decision_models_as_judges(rubric: Rubric, models: Sequence[Model], how: JudgeOptions) -> None:
    """An error where a judge that answers with probabilities alone is asked for what it cannot give."""
    judge = next((model.name for model in models if is_decision_model_name(model.name)), None)
    if judge is None:
        return
    hint = "name a model that writes, as in openai/NAME"
    if rubric.method.dialogue == "individual":
        raise JudgeError(Fault(f"{judge} quotes no evidence, and the method {rubric.method.name!r} requires it", hint))
    if rubric.method.dialogue == "pairwise":
        raise JudgeError(Fault(f"{judge} cannot compare outputs: it answers about one at a time", hint))
    if how.each or how.samples > 1 or how.logprobs:
        what = f"{judge} answers all criteria at once and with probabilities: each, samples and logprobs add nothing"
        raise JudgeError(Fault(what, "leave them out"))


def fingerprint_judge(rubric: Rubric, model: Model, how: JudgeOptions) -> str:
    """Of one judge asked about a rubric, whoever else is asked and whatever it counts for: a map is made for it."""
    plain = replace(how, maps=(), weights={})
    asked = _build_judge_prompt_fingerprint(rubric, [model], plain)
    return compute_fingerprint(rubric, prompts=asked.prompts, judges=asked.judges)


def refuse_judge_maps_of_other_rubrics(rubric: Rubric, models: Sequence[Model], how: JudgeOptions) -> None:
    """An error where a map was not made for this rubric as these judges are asked about it."""
    if how.maps:
        refuse_foreign_score_maps(how.maps, {one.name: [fingerprint_judge(rubric, one, how)] for one in models})


def find_judge_maps(rubric: Rubric, model: Model, how: JudgeOptions) -> Mapping[str, ScoreMap]:
    """The maps of a judge that were made for this rubric as it is asked now, by criterion."""
    if not how.maps:
        return {}
    key = (rubric, how, model.name, read_model_version(model))
    return _JUDGE_MAPS.get(key, lambda: _match_judge_maps(rubric, model, how))


_JUDGE_MAPS: RubricIdentityCache[Mapping[str, ScoreMap]] = RubricIdentityCache()


def _match_judge_maps(rubric: Rubric, model: Model, how: JudgeOptions) -> Mapping[str, ScoreMap]:
    now = fingerprint_judge(rubric, model, how)
    return {one.criterion: one for one in how.maps if (one.judge, one.fingerprint) == (model.name, now)}


def _count_pairwise_judge_votes(output: str, preferences: Sequence[Preference]) -> PairwiseJudgeStanding:
    own = [one for one in preferences if output in (one.first, one.second)]
    decided = [one for one in own if not one.why_not]
    won = sum(one.winner == output for one in decided)
    tied = sum(one.winner is None for one in decided)
    return PairwiseJudgeStanding(
        output=output, won=won, tied=tied, lost=len(decided) - won - tied, undecided=len(own) - len(decided)
    )
