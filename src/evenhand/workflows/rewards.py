"""A rubric as a reward: a batch of outputs to numbers, or why there is none, with every scorecard kept."""

from __future__ import annotations

import asyncio
import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any, Literal

from evenhand.errors import Fault, InputError, ModelError
from evenhand.guards.personal_data import TextMask, build_personal_text_mask, mask_data
from evenhand.judging.results import JudgedSample, judgment_to_json
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing, MissingKind, Scored
from evenhand.model.scorecard import Scorecard
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import collect_api_keys_to_hide
from evenhand.models.limits import Limits
from evenhand.models.model_names import choose_default_model_names
from evenhand.models.prices import Prices
from evenhand.models.requests import Model
from evenhand.runs.kept_texts import NOT_KEPT, forget_texts_about_output
from evenhand.runs.run_record import make_run_record_id
from evenhand.scoring.scores_json import scorecard_to_json
from evenhand.store.database import NO_HISTORY
from evenhand.store.rows import to_stored_json
from evenhand.store.store import Store
from evenhand.wording import pluralize_count, round_number_for_json, spell_exact_fraction
from evenhand.workflows.judge import JudgesLike, RubricLike, judge, load_user_rubric, open_user_judges
from evenhand.workflows.stores import StoreLike, open_user_store
from evenhand.workflows.subjects import check_subject_name

Json = dict[str, Any]
OUTPUT = "output"  # What the only output of a sample is called.
OUTPUTS_IN_ROW = 500  # Of a batch; a larger one is kept in several rows.
# An output that speaks to the judge must not be rewarded for it: no judge is shown it, and it has no reward.
REWARD_JUDGE_OPTIONS = JudgeOptions(refuse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardTerms:
    """How a scorecard becomes a number, and what is kept of it."""

    scale: Literal["share", "rubric"] = "share"  # 0 to 1 of the rubric's scale, or the score itself.
    failed_gate: Literal["keep", "lowest"] = "keep"  # The score stays, or becomes the low end of the scale.
    subject: str = ""  # Under which scorecards are kept; reward-RUBRIC unless it is given.
    keep_outputs: bool = True  # Whether outputs, and what judges say of them, are kept too, personal data masked.

    def __post_init__(self) -> None:
        if self.scale not in ("share", "rubric"):
            raise InputError(Fault(f"scale is share or rubric, got {self.scale!r}"))
        if self.failed_gate not in ("keep", "lowest"):
            raise InputError(Fault(f"failed_gate is keep or lowest, got {self.failed_gate!r}"))
        if self.subject:
            check_subject_name(self.subject)

    def name_subject(self, rubric: Rubric) -> str:
        """What the scorecards are kept under."""
        return self.subject or f"reward-{rubric.name}"[:100]

    def compute_reward(self, rubric: Rubric, card: Scorecard) -> float | None:
        """The number of a scorecard; None where it has no score."""
        if card.exact is None:
            return None
        ends = rubric.method.scale
        exact = ends.min if card.gates_failed and self.failed_gate == "lowest" else card.exact
        return float(exact if self.scale == "rubric" else (exact - ends.min) / (ends.max - ends.min))


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardedWork:
    """One output to be rewarded, and what a judge is told about it."""

    output: str
    prompt: str = ""
    reference: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingReward:
    """Why an output of a batch has no reward; `kind` as in `Missing`."""

    index: int
    kind: MissingKind
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardBatch:
    """A number for each output, in their order; None for those in `missing`."""

    rewards: tuple[float | None, ...]
    missing: tuple[MissingReward, ...]
    judged: tuple[JudgedSample | None, ...] = field(repr=False)
    fingerprint: str
    subject: str
    evaluations: tuple[str, ...]  # The rows under which the scorecards are kept.

    def to_json(self) -> Json:
        """As plain data."""
        return {
            "rewards": list(self.rewards),
            "missing": [{"index": one.index, "kind": one.kind, "why": one.why} for one in self.missing],
            "fingerprint": self.fingerprint,
            "subject": self.subject,
            "evaluations": list(self.evaluations),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardAccess:
    """Judges, a budget, limits and a store that all calls of a reward share."""

    rubric: Rubric
    models: Sequence[Model]
    connections: Connections
    store: Store
    how: JudgeOptions = REWARD_JUDGE_OPTIONS
    terms: RewardTerms = field(default_factory=RewardTerms)


@asynccontextmanager
async def open_reward_workflow(
    rubric: RubricLike,
    *,
    judges: JudgesLike | None = None,
    budget: Budget | None = None,
    limits: Limits | None = None,
    store: StoreLike = None,
    how: JudgeOptions = REWARD_JUDGE_OPTIONS,
    terms: RewardTerms = RewardTerms(),  # noqa: B008 - frozen
) -> AsyncIterator[RewardAccess]:
    """What rewards need, opened once; judges that are not named are those of the environment."""
    known = load_user_rubric(rubric)
    named = choose_default_model_names(known.method.dialogue, os.environ) if judges is None else judges
    with open_user_store(store, create=True) as opened:
        async with Connections(os.environ, limits=limits, budget=budget, prices=Prices.shipped()) as connections:
            models = open_user_judges(named, connections)
            yield RewardAccess(rubric=known, models=models, connections=connections, store=opened, how=how, terms=terms)


async def reward_outputs(access: RewardAccess, works: Sequence[RewardedWork]) -> RewardBatch:
    """Ask judges about every output for itself. What they could not judge has no reward, and is never 0."""
    rubric, terms = access.rubric, access.terms
    if rubric.method.dialogue == "pairwise":
        raise InputError(
            Fault(f"a reward is for one output, and {rubric.method.name} compares pairs", path=("rubric",))
        )
    found = await asyncio.gather(*(_judge_outputs_to_reward(access, one) for one in works))
    judged = tuple(one if isinstance(one, JudgedSample) else None for one in found)
    rewards, missing = [], []
    for index, one in enumerate(found):
        card = one.scores[OUTPUT] if isinstance(one, JudgedSample) else None
        reward = None if card is None else terms.compute_reward(rubric, card)
        rewards.append(reward)
        if reward is None:
            kind, why = _explain_missing_reward(one)
            missing.append(MissingReward(index=index, kind=kind, why=why))
    subject = terms.name_subject(rubric)
    fingerprint = next((one.scores.fingerprint for one in judged if one), "")
    batch = RewardBatch(
        rewards=tuple(rewards), missing=tuple(missing), judged=judged, fingerprint=fingerprint, subject=subject,
        evaluations=(),
    )  # fmt: skip
    return await asyncio.to_thread(_store_reward_batch, access, works, batch)


def describe_missing_rewards(works: Sequence[RewardedWork], batch: RewardBatch) -> str:
    """How many outputs have no reward and why the first has none, personal data and keys masked; "" where all have."""
    if not batch.missing:
        return ""
    first = batch.missing[0]
    told = collect_api_keys_to_hide(os.environ).remove_keys(first.why)
    why = _build_reward_mask(works[first.index])(told)
    return f"{len(batch.missing)} of {len(works)} outputs have no reward; the first: {why} ({first.kind})"


def read_text_to_reward(given: Any) -> str:
    """A text as it is; of a conversation the only message, or each with its role."""
    if isinstance(given, str):
        return given
    if given is None:
        return ""
    messages = [(one.get("role", ""), _read_message_to_reward(one.get("content"))) for one in given]
    if len(messages) == 1:
        return messages[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in messages)


def _read_message_to_reward(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return "" if content is None else str(content)


async def _judge_outputs_to_reward(access: RewardAccess, work: RewardedWork) -> JudgedSample | Missing:
    """What judges say of one output; that nobody answered is no reason to lose the others."""
    if not work.output.strip():
        return Missing("not_asked", "the output is empty")
    sample = Sample(outputs={OUTPUT: work.output}, input=work.prompt, reference=work.reference, context=work.context)
    models = list(access.models)
    try:
        return await judge(access.rubric, sample, judges=models, how=access.how, connections=access.connections)
    except ModelError as error:
        return Missing("failed", str(error))


def _explain_missing_reward(found: JudgedSample | Missing) -> tuple[MissingKind, str]:
    """The kind and the reason of the first gap."""
    if isinstance(found, Missing):
        return found.kind, found.text
    card = found.scores[OUTPUT]
    if not card.missing:
        return "not_asked", "; ".join(card.notes) or "the method gives no score"
    first = card.missing[0]
    return first.missing.kind, f"{first.criterion}: {first.why}"


def _store_reward_batch(access: RewardAccess, works: Sequence[RewardedWork], batch: RewardBatch) -> RewardBatch:
    """Keep the scorecards of a batch as evaluations of its subject, one row for so many outputs."""
    rows = [
        _build_reward_batch_row(access, works, batch, range(start, min(start + OUTPUTS_IN_ROW, len(works))))
        for start in range(0, len(works), OUTPUTS_IN_ROW)
    ]
    for row in rows:
        access.store.evaluations.add_evaluation(row)
    return replace(batch, evaluations=tuple(row["id"] for row in rows))


def _build_reward_batch_row(
    access: RewardAccess, works: Sequence[RewardedWork], batch: RewardBatch, part: range
) -> Json:
    """The means of a part of a batch, as a scorecard that history compares; every scorecard beside it, packed."""
    kept = json.dumps([_describe_rewarded_output(access, works[at], batch, at) for at in part])
    cards = [one.scores[OUTPUT] for at in part if (one := batch.judged[at])]
    scores = [card.exact for card in cards if card.exact is not None]
    means = _mean_rewarded_criteria(cards)
    lost = len(part) - len(scores)
    card = {
        "id": pluralize_count(len(part), "output"),
        "score": round_number_for_json(float(sum(scores) / len(scores))) if scores else None,
        **dict.fromkeys(("grade", "label", "description", "verdict"), None),
        "gates_failed": [], "missing": [], "flags": [], "bonuses": [], "statements": [], "steps": [],
        "criteria": {id: round_number_for_json(float(mean)) for id, mean in means.items()},
        "reviews": None,
        "holistic": None,
        "notes": [f"the mean of {len(scores)}; {lost} without a reward"],
    }  # fmt: skip
    content = {
        "rubric": access.rubric.name,
        "output_digest": None,
        "exact": {id: spell_exact_fraction(mean) for id, mean in means.items()},
        "scorecard": card,
        "rewards": b64encode(zlib.compress(kept.encode())).decode(),
    }
    now = datetime.now(UTC)
    return {
        "id": make_run_record_id(now),
        "subject": batch.subject,
        "at": now.isoformat(timespec="microseconds"),
        "fingerprint": batch.fingerprint,
        "digest": sha256(kept.encode()).hexdigest(),
        "content": to_stored_json(content),
    }


def _describe_rewarded_output(access: RewardAccess, work: RewardedWork, batch: RewardBatch, at: int) -> Json:
    terms, judged, text = access.terms, batch.judged[at], work.output
    missing = next((one for one in batch.missing if one.index == at), None) if batch.rewards[at] is None else None
    told = {
        "prompt": work.prompt,
        "why": missing and missing.why,
        "scorecard": scorecard_to_json(access.rubric, judged.scores[OUTPUT]) if judged else None,
        "judgments": [judgment_to_json(one) for one in judged.judgments] if judged else [],
    }
    if not terms.keep_outputs:  # What judges say of an output quotes it.
        why = missing and Missing(missing.kind, NOT_KEPT).text
        told = {**forget_texts_about_output(told), "prompt": None, "why": why}
    mask = _build_reward_mask(work)
    secrets = collect_api_keys_to_hide(os.environ)
    masked = mask_data(secrets.remove_from_data(told), mask)  # Keys first: masked in part, one is not known any more.
    assert isinstance(masked, dict)
    # Elsewhere the key names an output.
    masked["output"] = mask(secrets.remove_keys(text)) if terms.keep_outputs else None
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"reward": batch.rewards[at], "output_digest": digest, **masked}


def _build_reward_mask(work: RewardedWork) -> TextMask:
    return build_personal_text_mask([work.output, work.prompt, work.reference, work.context])


def _mean_rewarded_criteria(cards: Sequence[Scorecard]) -> dict[str, Fraction]:
    values: dict[str, list[Fraction]] = {}
    for card in cards:
        for id, score in card.criteria.items():
            if isinstance(score, Scored):
                values.setdefault(id, []).append(score.value)
    return {id: sum(some, Fraction(0)) / len(some) for id, some in values.items()}


def load_rewards(store: StoreLike, subject: str) -> Iterator[Mapping[str, Any]]:
    """Every reward that was given under a subject, oldest first, with its output, scorecard and judgments."""
    with open_user_store(store, empty=NO_HISTORY) as opened:
        yield from _iter_stored_rewards(opened, subject)


def _iter_stored_rewards(store: Store, subject: str) -> Iterator[Json]:
    for row in store.evaluations.list_evaluations(subject):
        content = json.loads(row["content"])
        if "rewards" in content:
            for one in json.loads(zlib.decompress(b64decode(content["rewards"]))):
                yield {"evaluation": row["id"], "at": row["at"], "fingerprint": row["fingerprint"], **one}
