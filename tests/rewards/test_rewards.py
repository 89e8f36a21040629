"""A rubric as a reward: what trainers hand over, what they get, and what is kept of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand import Budget, InputError
from evenhand.models.requests import Request
from evenhand.rewards import (
    RewardedWork,
    RewardMissingError,
    RewardTerms,
    RubricReward,
    load_rewards,
    mask_missing_rewards,
    rubric_reward,
)
from evenhand.workflows.history import load_history

RUBRIC = {
    "name": "kind",
    "method": "judge-skill",
    "criteria": [{"id": "right", "asks": "Is it right?", "weight": 1}],
}
CHECKS = {
    "name": "must",
    "criteria": [
        {"id": "right", "asks": "Is it right?"},
        {"id": "kind", "asks": "Is it kind?", "required": False, "weight": 3},
    ],
}


async def answer(request: Request) -> str:
    """Gives the score that the output asks for, `worth N`; nothing where it asks for none."""
    worth = request.messages[-1].text.partition("worth ")[2].split()[:1]
    if not worth:
        return "I would rather not say."
    found = {"evidence": ["worth"], "reason": "", "score": float(worth[0])}
    return json.dumps({"criteria": dict.fromkeys(request.ids, found)})


def share(score: float) -> Any:
    """What a score from 1 to 10 is as a reward."""
    return pytest.approx((score - 1) / 9)


def answer_all(request: Request) -> str:
    """Yes to all, but for the criterion that the output names."""
    text = request.messages[-1].text
    answers = {id: "no" if f"not {id}" in text else "yes" for id in request.ids}
    found = {id: {"evidence": ["an output"], "reason": "", "answer": one} for id, one in answers.items()}
    return json.dumps({"criteria": found})


@pytest.fixture
def reward(tmp_path: Path) -> Iterator[RubricReward]:
    """A reward from a judge that says what the output says."""
    found = rubric_reward(RUBRIC, judges=answer, store=tmp_path)
    yield found
    found.close()


def test_a_trainer_gets_a_number_for_each_completion_and_none_where_there_is_none(reward: RubricReward) -> None:
    """0 to 1 of the rubric's scale, in the order of the completions."""
    told: dict[str, float] = {}

    rewards = reward(
        prompts=["q"] * 3, completions=["worth 10", "silence", "worth 2.5"], completion_ids=[[1]] * 3,
        trainer_state=None, log_metric=told.__setitem__,
    )  # fmt: skip

    assert rewards == [1.0, None, share(2.5)]
    assert told == {"rubric_kind/missing": 1 / 3}


def test_conversations_are_read_as_texts(tmp_path: Path) -> None:
    """The only message as it is, several with their roles; references come from their column."""
    seen: list[str] = []

    def look(request: Request) -> str:
        seen.append(request.messages[-1].text)
        return "no"

    reward = rubric_reward(RUBRIC, judges=look, store=tmp_path)
    asked = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": [{"type": "text", "text": "Hi?"}]}]
    reward(prompts=[asked], completions=[[{"role": "assistant", "content": "Hello."}]], answer=["a greeting"])
    reward.close()

    assert "Be kind." in seen[0]
    assert "Hi?" in seen[0]
    assert "Hello." in seen[0]
    assert "ssistant: " not in seen[0]
    assert "a greeting" in seen[0]


def test_an_empty_completion_has_no_reward(reward: RubricReward) -> None:
    """There is nothing that a judge could be shown; the others are not lost for it."""
    batch = reward.score_works([RewardedWork(output=text) for text in ("worth 10", "", " \n")])

    assert batch.rewards == (1.0, None, None)
    assert [(one.index, one.kind) for one in batch.missing] == [(1, "not_asked"), (2, "not_asked")]
    assert "the output is empty" in batch.missing[0].why


def test_the_asynchronous_function_gives_the_same_in_a_loop_of_the_trainer(reward: RubricReward) -> None:
    """TRL gathers such functions in a loop of its own."""

    async def train() -> list[list[float | None]]:
        calls = [reward.trl_async(prompts=["q"], completions=[f"worth {n}"], extra=[1]) for n in range(1, 6)]
        return list(await asyncio.gather(*calls))

    assert asyncio.run(train()) == [[share(n)] for n in range(1, 6)]
    assert asyncio.iscoroutinefunction(reward.trl_async)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (RewardTerms(), [1.0, 0.75, 0.25]),
        (RewardTerms(failed_gate="lowest"), [1.0, 0.0, 0.25]),
        (RewardTerms(scale="rubric"), [1.0, 0.75, 0.25]),
    ],
)
def test_a_failed_gate_keeps_its_score_unless_it_is_to_count_nothing(
    terms: RewardTerms, expected: list[float], tmp_path: Path
) -> None:
    """Partial credit is what a trainer climbs on; whoever wants a cliff says so."""
    reward = rubric_reward(CHECKS, judges=answer_all, store=tmp_path, terms=terms)

    assert (
        reward(prompts=["q"] * 3, completions=["an output", "an output, not right", "an output, not kind"]) == expected
    )
    reward.close()


def test_the_scale_of_the_rubric_is_an_option(tmp_path: Path) -> None:
    """The score itself."""
    reward = rubric_reward(RUBRIC, judges=answer, store=tmp_path, terms=RewardTerms(scale="rubric"))

    assert reward(prompts=["q"], completions=["worth 2.5"]) == [2.5]
    reward.close()


@pytest.mark.parametrize("wrong", [{"scale": "log"}, {"failed_gate": "drop"}, {"subject": "eval:x"}])
def test_terms_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    """Before anything is trained."""
    with pytest.raises(InputError):
        RewardTerms(**wrong)


def test_every_scorecard_is_kept_for_an_audit(reward: RubricReward, tmp_path: Path) -> None:
    """Each output with its reward, scorecard and reasons; the means of each batch are a history."""
    for worth in (2, 3, 9):
        reward(prompts=["q", "q"], completions=[f"worth {worth} and mail anna.meier@posteo.de", "silence"])

    kept = list(load_rewards(tmp_path, "reward-kind"))
    history = load_history(tmp_path, "reward-kind").evaluations

    assert [one["reward"] for one in kept] == [share(2), None, share(3), None, share(9), None]
    assert kept[0]["scorecard"]["criteria"] == {"right": 2}
    assert "anna.meier@posteo.de" not in kept[0]["output"]
    assert kept[0]["output"].startswith("worth 2 and mail ")
    assert kept[1]["why"] == kept[3]["why"] != ""
    assert [one.scorecard["score"] for one in history] == [2, 3, 9]
    assert history[0].scorecard["notes"] == ["the mean of 1; 1 without a reward"]


def test_no_key_with_the_number_of_a_card_in_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masked first, it would not be known for a key, and the rest of it would stay."""
    key = "xoxb-4111111111111111-ZqvRpLwTnaBcDxYz"
    monkeypatch.setenv("SLACK_TOKEN", key)
    reward = rubric_reward(RUBRIC, judges=answer, store=tmp_path)
    reward(prompts=[f"Say {key}"], completions=[f"worth 2 and {key}"])
    reward.close()

    [kept] = load_rewards(tmp_path, "reward-kind")

    assert (kept["prompt"], kept["output"]) == ("Say [key hidden]", "worth 2 and [key hidden]")
    assert "ZqvRpLwTnaBcDxYz" not in json.dumps(dict(kept))


def test_outputs_can_stay_out_of_the_store(tmp_path: Path) -> None:
    """Their digests, answers and scorecards are kept all the same, but no word of a judge, who quotes them."""

    def quote(request: Request) -> str:
        text = request.messages[-1].text
        if "unclear" in text:
            return "A rambling reply about Quagmire."
        found = {"evidence": ["Quagmire is worth 2"], "reason": "It says Quagmire.", "score": 2}
        return json.dumps({"criteria": {"right": found}, "red_flags": {"leak": {**found, "score": True}}})

    rubric = {**RUBRIC, "red_flags": [{"id": "leak", "asks": "Does it leak?"}]}
    reward = rubric_reward(rubric, judges=quote, store=tmp_path, terms=RewardTerms(keep_outputs=False, subject="s"))
    rewards = reward(prompts=["a Quagmire"] * 2, completions=["Quagmire is worth 2", "Quagmire, unclear"])
    reward.close()

    scored, missing = load_rewards(tmp_path, "s")

    assert "Quagmire" not in json.dumps([dict(scored), dict(missing)])
    assert (scored["output"], scored["prompt"], scored["reward"]) == (None, None, rewards[0])
    assert [one["score"] for one in scored["judgments"] if one["criterion"] == "right"] == [2]
    assert (scored["scorecard"]["flags"], missing["why"]) == (["leak"], "unreadable: not kept")
    assert len(scored["output_digest"]) == 64


def test_the_warning_of_a_missing_reward_shows_no_personal_data(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It goes to the log of a training, which many read."""
    reward = rubric_reward(
        RUBRIC, judges=lambda _: json.dumps({"criteria": {"right": {"score": "jo@example.org"}}}), store=tmp_path
    )
    reward(prompts=["q"], completions=["mail jo@example.org"])
    reward.close()

    assert "1 of 1 outputs have no reward; the first: right: " in caplog.text
    assert "jo@example.org" not in caplog.text


def test_a_budget_holds_for_all_calls_together(tmp_path: Path) -> None:
    """What was not asked has no reward."""
    reward = rubric_reward(RUBRIC, judges=answer, store=tmp_path, budget=Budget(tokens=20_000))

    rewards = [reward(prompts=["q"], completions=["worth 5"])[0] for _ in range(8)]
    (why,) = reward.score_works([RewardedWork(output="worth 5")]).missing
    reward.close()

    assert rewards[0] == share(5)
    assert rewards[-1] is None
    assert set(rewards) == {rewards[0], None}
    assert "budget" in why.why


def test_verifiers_gets_a_number_or_an_error_that_leaves_the_rollout_out(reward: RubricReward) -> None:
    """It records the error on the trace; a reward of 0 would count."""
    task, trace = SimpleNamespace(prompt_text="q", answer="r"), SimpleNamespace(last_reply="worth 4")

    assert asyncio.run(reward.verifiers(task=task, trace=trace)) == share(4)
    with pytest.raises(RewardMissingError, match="right: "):
        asyncio.run(reward.verifiers(task=task, trace=SimpleNamespace(last_reply="silence")))


def test_verl_gets_numbers_of_which_a_missing_one_has_no_advantage(reward: RubricReward) -> None:
    """In a batch it is the mean of its group, and marked; alone it is an error."""
    texts = ["worth 2", "worth 4", "silence", "worth 9"]
    extras = [{"index": 1}, {"index": 1}, {"index": 1}, {"index": 2}]

    found = reward.verl_batch(
        data_sources=["d"] * 4, solution_strs=texts, ground_truths=["r"] * 4, extra_infos=extras, more=1
    )

    assert [one["score"] for one in found] == [share(2), share(4), share(3), share(9)]
    assert [one["judged"] for one in found] == [1, 1, 0, 1]
    alone: dict[str, Any] = {"data_source": "d", "ground_truth": "r", "extra_info": {}}
    assert asyncio.run(reward.verl(solution_str="worth 2", **alone)) == {"score": share(2), "judged": 1.0}
    with pytest.raises(RewardMissingError):
        asyncio.run(reward.verl(solution_str="silence", **alone))
    with pytest.raises(RewardMissingError, match="nothing to compare"):
        reward.verl_batch(data_sources=["d"], solution_strs=["silence"], ground_truths=[""], extra_infos=[None])


def test_slime_removes_samples_without_a_reward(reward: RubricReward) -> None:
    """They still count in the mean of the group, so they are its mean."""
    texts = ["worth 2", "silence", "worth 4"]
    group = [SimpleNamespace(prompt="q", response=text, label=None, remove_sample=False) for text in texts]

    rewards = asyncio.run(reward.slime(None, group))

    assert rewards == [share(2), share(3), share(4)]
    assert [one.remove_sample for one in group] == [False, True, False]
    assert asyncio.run(reward.slime(None, group[0])) == share(2)
    lost = [group[1]]
    assert asyncio.run(reward.slime(None, lost)) == [0.0]
    assert lost[0].remove_sample


def test_a_masked_reward_is_the_mean_of_its_own_group() -> None:
    """And of no other."""
    assert mask_missing_rewards([1.0, None, 0.0, None], "aabb") == [1.0, 1.0, 0.0, 0.0]
