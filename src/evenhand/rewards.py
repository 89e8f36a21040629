"""Rewards for training: a rubric as the functions that TRL, verifiers, verl and slime call."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, TypeVar

from evenhand.errors import EvenhandError
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.budget import Budget
from evenhand.models.limits import Limits
from evenhand.workflows.judge import JudgesLike, RubricLike, load_user_rubric
from evenhand.workflows.rewards import (
    REWARD_JUDGE_OPTIONS,
    MissingReward,
    RewardAccess,
    RewardBatch,
    RewardedWork,
    RewardTerms,
    describe_missing_rewards,
    load_rewards,
    open_reward_workflow,
    read_text_to_reward,
    reward_outputs,
)
from evenhand.workflows.stores import StoreLike

__all__ = [
    "MissingReward",
    "RewardBatch",
    "RewardMissingError",
    "RewardTerms",
    "RewardedWork",
    "RubricReward",
    "load_rewards",
    "mask_missing_rewards",
    "rubric_reward",
]

LOG = logging.getLogger("evenhand.rewards")
Waited = TypeVar("Waited")
REFERENCE_COLUMNS = ("reference", "answer", "solution", "ground_truth", "label")


class RewardMissingError(EvenhandError):
    """An output has no reward, and the trainer takes nothing but a number: the rollout must be left out."""


def rubric_reward(
    rubric: RubricLike,
    *,
    judges: JudgesLike | None = None,
    budget: Budget | None = None,
    limits: Limits | None = None,
    store: StoreLike = None,
    how: JudgeOptions = REWARD_JUDGE_OPTIONS,
    terms: RewardTerms = RewardTerms(),  # noqa: B008 - frozen
) -> RubricReward:
    """A rubric as a reward. Budget and limits hold for all calls together; every scorecard is kept in the store."""
    known = load_user_rubric(rubric)  # What is wrong with it is said now.
    return RubricReward(
        known.name,
        lambda: open_reward_workflow(
            known, judges=judges, budget=budget, limits=limits, store=store, how=how, terms=terms
        ),
    )


class RubricReward:
    """A reward as functions: itself for TRL, and `trl_async`, `verifiers`, `verl`, `verl_batch` and `slime`.

    All of them share one loop in a thread of its own, and so connections, budget and limits.
    """

    def __init__(self, name: str, open_access: Callable[[], AbstractAsyncContextManager[RewardAccess]]) -> None:
        self.__name__ = f"rubric_{name}".replace("-", "_")
        self._open_access, self._opened = open_access, AsyncExitStack()
        self._access: asyncio.Task[RewardAccess] | None = None
        self._loop = _RewardLoop()

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """For TRL, which leaves a completion out of its group where the reward is None."""
        return self._tell_trl(self.score_works(read_trl_batch(prompts, completions, columns)), columns)

    @property
    def trl_async(self) -> Callable[..., Coroutine[Any, Any, list[float | None]]]:
        """The same as an asynchronous function, of which TRL calls several at once."""

        async def score(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
            return self._tell_trl(await self.score_works_async(read_trl_batch(prompts, completions, columns)), columns)

        score.__name__ = self.__name__  # By which TRL logs it.
        return score

    def _tell_trl(self, batch: RewardBatch, columns: Mapping[str, Any]) -> list[float | None]:
        """The rewards; where TRL takes figures for its log, also the share that is missing."""
        if callable(log := columns.get("log_metric")) and batch.rewards:
            log(f"{self.__name__}/missing", len(batch.missing) / len(batch.rewards))
        return list(batch.rewards)

    @property
    def verifiers(self) -> VerifiersReward:
        """For verifiers: `quality = vf.reward(reward.verifiers)` in a task."""
        return VerifiersReward(self)

    async def verl(
        self, data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any
    ) -> dict[str, Any]:
        """For verl, one rollout at a time. It takes numbers only, so a missing reward is an error."""
        works = [_read_verl_work(solution_str, ground_truth, extra_info)]
        batch = await self.score_works_async(works)
        return {"score": _require_reward(batch), "judged": 1.0}

    def verl_batch(
        self, data_sources: Sequence[str], solution_strs: Sequence[str], ground_truths: Sequence[Any],
        extra_infos: Sequence[Any], **_: Any,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """For verl's batch manager: a missing reward is the mean of its group, which gives it no advantage."""
        given = zip(solution_strs, ground_truths, extra_infos, strict=True)
        works = [_read_verl_work(text, truth, extra) for text, truth, extra in given]
        batch = self.score_works(works)
        groups = [
            _name_verl_group(source, work, extra)
            for source, work, extra in zip(data_sources, works, extra_infos, strict=True)
        ]
        return [
            {"score": reward, "judged": float(own is not None)}
            for reward, own in zip(mask_missing_rewards(batch.rewards, groups), batch.rewards, strict=True)
        ]

    async def slime(self, args: Any, samples: Any, **_: Any) -> Any:
        """For slime's --custom-rm-path: in a group (--group-rm) missing ones are masked, one alone is an error."""
        if not isinstance(samples, (list, tuple)):
            return _require_reward(await self.score_works_async([_read_slime_sample(samples)]))
        batch = await self.score_works_async([_read_slime_sample(one) for one in samples])
        for sample, reward in zip(samples, batch.rewards, strict=True):
            if reward is None:
                sample.remove_sample = True
        # A whole group may be missing: all of it is removed, whatever the number.
        return mask_missing_rewards(batch.rewards, [0] * len(samples), if_all=0.0)

    def score_works(self, works: Sequence[RewardedWork]) -> RewardBatch:
        """The whole result for outputs: rewards, what is missing and why, where the scorecards are."""
        return self._loop.wait_for(self._score_works(works))

    async def score_works_async(self, works: Sequence[RewardedWork]) -> RewardBatch:
        """The same, for callers that have a loop."""
        return await asyncio.wrap_future(self._loop.submit(self._score_works(works)))

    async def _score_works(self, works: Sequence[RewardedWork]) -> RewardBatch:
        if self._access is None:  # Calls at the same time wait for the same connections.
            self._access = asyncio.create_task(self._opened.enter_async_context(self._open_access()))
        batch = await reward_outputs(await self._access, works)
        if missing := describe_missing_rewards(works, batch):
            LOG.warning("%s", missing)
        return batch

    def close(self) -> None:
        """Close the connections and the store; afterwards nothing can be scored."""
        self._loop.wait_for(self._opened.aclose())
        self._loop.stop()


class VerifiersReward:
    """A reward function of verifiers: it is given the task and the trace, and raises where there is no reward.

    verifiers then records the error on the trace and leaves its reward unset.
    """

    def __init__(self, reward: RubricReward) -> None:
        self.__name__ = reward.__name__
        self._answer_reward_request = reward

    async def __call__(self, task: Any, trace: Any) -> float:
        """The reward of the last reply of a trace."""
        reference = next((str(found) for name in REFERENCE_COLUMNS if (found := getattr(task, name, None))), "")
        prompt = getattr(task, "prompt_text", None) or read_text_to_reward(getattr(task, "prompt", "") or "")
        work = RewardedWork(output=trace.last_reply, prompt=prompt, reference=reference)
        return _require_reward(await self._answer_reward_request.score_works_async([work]))


def mask_missing_rewards(
    rewards: Sequence[float | None], groups: Sequence[Hashable], *, if_all: float | None = None
) -> list[float]:
    """Numbers for a trainer that takes nothing else: a missing one becomes the mean of its group.

    Where a rollout is compared with its group it then has no advantage. A whole group that is missing is an error,
    unless the caller has a number for rollouts that it leaves out itself.
    """
    known: dict[Hashable, list[float]] = {}
    for reward, group in zip(rewards, groups, strict=True):
        if reward is not None:
            known.setdefault(group, []).append(reward)
    means = {group: sum(some) / len(some) for group, some in known.items()}
    filled = [means.get(group, if_all) if own is None else own for own, group in zip(rewards, groups, strict=True)]
    if any(one is None for one in filled):
        raise RewardMissingError("no rollout of a group has a reward: there is nothing to compare")
    return [one for one in filled if one is not None]


def read_trl_batch(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[RewardedWork]:
    """What TRL hands over: texts or conversations, and the other columns of the data set."""
    references = next((columns[name] for name in REFERENCE_COLUMNS if name in columns), None)
    contexts = columns.get("context")
    return [
        RewardedWork(
            output=read_text_to_reward(completion),
            prompt=read_text_to_reward(prompt),
            reference=_read_reward_cell(references, at),
            context=_read_reward_cell(contexts, at),
        )
        for at, (prompt, completion) in enumerate(zip(prompts, completions, strict=True))
    ]


def _read_reward_cell(column: Any, at: int) -> str:
    value = column[at] if isinstance(column, (list, tuple)) else None
    return "" if value is None else str(value)


def _read_verl_work(text: str, truth: Any, extra: Any) -> RewardedWork:
    told = extra if isinstance(extra, Mapping) else {}
    prompt = next((told[name] for name in ("prompt", "question") if told.get(name)), "")
    return RewardedWork(output=text, prompt=read_text_to_reward(prompt), reference="" if truth is None else str(truth))


def _name_verl_group(source: str, work: RewardedWork, extra: Any) -> Hashable:
    told = extra if isinstance(extra, Mapping) else {}
    return (str(source), str(told.get("index", "")), work.prompt, work.reference)


def _read_slime_sample(sample: Any) -> RewardedWork:
    label = sample.label
    return RewardedWork(
        output=sample.response, prompt=read_text_to_reward(sample.prompt), reference="" if label is None else str(label)
    )


def _require_reward(batch: RewardBatch) -> float:
    (reward,) = batch.rewards
    if reward is None:
        raise RewardMissingError(f"there is no reward: {batch.missing[0].why}")
    return reward


class _RewardLoop:
    """A loop in a thread of its own, started when it is needed: trainers call from threads and loops of theirs."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, work: Coroutine[Any, Any, Waited]) -> Any:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="evenhand-rewards", daemon=True)
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait_for(self, work: Coroutine[Any, Any, Waited]) -> Waited:
        found: Waited = self.submit(work).result()
        return found

    def stop(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
