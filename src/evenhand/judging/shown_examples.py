"""Examples of criteria as material for judges: passages that people scored, inside the fence like every text that
came from outside. Rubrics without examples are asked in the same words as before there were any.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.judging.fence import SharedPiece
from evenhand.judging.prompts import Prompts, load_example_phrases
from evenhand.model.rubric import Rubric
from evenhand.wording import format_fraction


def tag_examples_for_judge(rubric: Rubric, prompts: Prompts) -> Iterator[SharedPiece]:
    """The examples of all judged criteria: each passage, and the reason for its score where there is one."""
    shown = [(leaf, one) for leaf in rubric.leaves.values() if leaf.judged for one in leaf.examples]
    phrases = load_example_phrases(prompts.language) if shown else {}
    for number, (leaf, example) in enumerate(shown, start=1):
        word = prompts.say("yes" if example.score else "no") if leaf.scale.yes_no else format_fraction(example.score)
        label = phrases["example"].format(criterion=leaf.shown_as or leaf.id, score=word)
        yield SharedPiece(label, f"example-{number}", example.passage)
        if example.why.strip():
            yield SharedPiece(phrases["example_why"], f"example-{number}-why", example.why)


def list_example_prompt_texts(rubric: Rubric, language: str) -> dict[str, str]:
    """What the examples of a rubric add to the texts that a fingerprint covers; nothing where it has none."""
    if not any(leaf.examples for leaf in rubric.leaves.values()):
        return {}
    return {"examples": "\n".join(f"{name}: {text}" for name, text in load_example_phrases(language).items())}
