"""Run where TRL is: GRPOTrainer takes the reward and trains a tiny random model with it; prints what it saw as JSON."""

import json
import sys
import tempfile
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # type: ignore[import-not-found]
from trl import GRPOConfig, GRPOTrainer, __version__  # type: ignore[import-not-found]

from datasets import Dataset  # type: ignore[import-not-found]
from evenhand.models.requests import Request
from evenhand.rewards import load_rewards, rubric_reward

WORDS = ["<pad>", "<eos>", "<unk>", *(f"w{n}" for n in range(40))]
RUBRIC = {"name": "tiny", "method": "judge-skill", "criteria": [{"id": "good", "asks": "Is it good?", "weight": 1}]}


def answer(request: Request) -> str:
    """A score that depends on the output; of every third output none."""
    text = request.messages[-1].text.partition("<output-")[2]
    length = len(text)
    if length % 3 == 0:
        return "I cannot say."
    one = {"evidence": [], "reason": "", "score": 1 + length % 10, "absent": ["nothing"]}
    return json.dumps({"criteria": {"good": one}})


def train(reward: Any, folder: str) -> Any:
    """Two steps of GRPO on the processor."""
    vocabulary = {word: id for id, word in enumerate(WORDS)}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(WORDS), pad_token_id=0, eos_token_id=1, **size))
    settings = GRPOConfig(
        output_dir=folder, per_device_train_batch_size=8, num_generations=4, max_completion_length=8, max_steps=2,
        logging_steps=1, report_to=[], use_cpu=True, bf16=False, save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    rows = [{"prompt": f"w{n} w{n + 1}", "answer": f"w{n}"} for n in range(8)]
    trainer = GRPOTrainer(
        model=model, reward_funcs=reward, args=settings, train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )  # fmt: skip
    trainer.train()
    return trainer


def main() -> None:
    """Once with the function, once with the asynchronous one."""
    seen: dict[str, Any] = {"trl": __version__}
    for kind in ("plain", "async"):
        with tempfile.TemporaryDirectory() as folder:
            reward = rubric_reward(RUBRIC, judges=answer, store=f"{folder}/store")
            trainer = train(reward if kind == "plain" else reward.trl_async, folder)
            kept = [one["reward"] for one in load_rewards(f"{folder}/store", "reward-tiny")]
            reward.close()
            advantages = list(trainer._logs["advantages"])
            logged = [one for one in trainer.state.log_history if "reward" in one]
            seen[kind] = {"kept": kept, "advantages": advantages, "logged": [one["reward"] for one in logged]}
            seen[kind]["names"] = sorted(name for name in logged[0] if "rubric_tiny" in name)
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
