"""What to say before a run asks anything: criteria that its judges cannot answer, and settings that cannot act."""

from __future__ import annotations

from itertools import islice

from evenhand.evals.eval_definition import Eval, SampleCounts
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.variant import ModelVariant
from evenhand.judging.unanswerable import UnanswerableCriterion, list_criteria_unfit_for_judges
from evenhand.model.method import LEAST_TO_NORMALISE
from evenhand.models.model_names import is_decision_model
from evenhand.models.requests import EMBEDDED
from evenhand.wording import join_names, pluralize_count
from evenhand.workflows.inputs import suggest_judge_for_author

SAMPLES_FOR_LIMITS = 50  # Samples that are looked at for a reference: where one has none, few others have.


def list_notes_before_run(eval: Eval, counted: SampleCounts) -> list[str]:
    """What should be known of an eval before anything is paid for."""
    warnings = (counted.mixed, warn_user_of_authors_near_judges(eval), warn_user_of_eval_without_normalising(eval))
    return list(filter(None, (*eval.notes, *warnings)))


def list_user_eval_unanswerable(eval: Eval) -> tuple[UnanswerableCriterion, ...]:
    """The criteria of an eval that its judges cannot answer, whatever the outputs."""
    if not eval.rubrics or any(name != EMBEDDED and not is_decision_model(name) for name in eval.judges):
        return ()
    known = list(islice(eval.samples, SAMPLES_FOR_LIMITS))
    given = {"has_reference": any(one.reference for one in known), "has_context": any(one.context for one in known)}
    found = [list_criteria_unfit_for_judges(rubric, eval.judges, **given) for rubric in eval.rubrics.values()]
    return tuple(one for several in found for one in several)


def warn_user_of_eval_without_normalising(eval: Eval) -> str:
    """What to say where a rubric normalises reviewers and some score too few outputs of a sample for it; else nothing.

    A reviewer does not score the outputs that it wrote, unless the rubric lets it.
    """
    rubrics = [rubric for rubric in eval.all_rubrics.values() if rubric.method.panel.normalise == "z"]
    if not rubrics:
        return ""
    known = list(islice(eval.samples, SAMPLES_FOR_LIMITS))
    most = dict.fromkeys(eval.judges, len(eval.variants))
    if known and not any(rubric.method.panel.self_votes for rubric in rubrics):
        authors = [[_find_output_author(eval, sample, name) for name in eval.variants] for sample in known]
        most = {judge: max(len(eval.variants) - one.count(judge) for one in authors) for judge in eval.judges}
    few = [judge for judge, outputs in most.items() if outputs < LEAST_TO_NORMALISE]
    if not few:
        return ""
    scored = pluralize_count(max(most[judge] for judge in few), "output")
    at_most = "" if len({most[judge] for judge in few}) == 1 else "at most "
    all_judges = len(few) == len(most)
    who = f"each judge scores {at_most}{scored}" if all_judges else f"{join_names(few)} score {at_most}{scored}"
    own = "" if len(eval.variants) < LEAST_TO_NORMALISE else ", not its own" if all_judges else ", not their own"
    does = "does nothing here" if all_judges else "leaves some judges as they are"
    counts = "every judge's scores count as they are" if all_judges else "their scores count as they are"
    return (
        f"normalise: z {does}: it needs {LEAST_TO_NORMALISE} outputs of one sample scored by a judge, and {who} of a "
        f"sample{own}; {counts}"
    )


def warn_user_of_authors_near_judges(eval: Eval) -> str:
    """What to say where outputs name an author that is a judge under another name; else nothing."""
    known = islice(eval.samples, SAMPLES_FOR_LIMITS)
    authors = dict.fromkeys(_find_output_author(eval, sample, name) for sample in known for name in eval.variants)
    near = {author: suggest_judge_for_author(author, eval.judges) for author in authors if author}
    told = [f"{author!r} (did you mean {judge!r}?)" for author, judge in near.items() if judge]
    return f"no judge is called {join_names(told)}: a judge is kept from its own outputs by its name" if told else ""


def _find_output_author(eval: Eval, sample: EvalSample, variant: str) -> str | None:
    maker, recorded = eval.variants[variant], sample.outputs.get(variant)
    return maker.model if isinstance(maker, ModelVariant) else recorded.author if recorded else None
