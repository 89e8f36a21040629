"""Settings in the environment override the file, and name themselves when they are wrong."""

import pytest

from evenhand import RubricError, load_rubric
from evenhand.files.methods import override_rubric_file_fields
from evenhand.scoring.scores import compute_fingerprint


def test_the_environment_overrides_the_file_and_changes_the_fingerprint() -> None:
    """Documented variables that do nothing are a rival's fault."""
    rubric = load_rubric("council")
    environ = {"LLM_COUNCIL_WEIGHT_ACCURACY": "0.45", "LLM_COUNCIL_WEIGHT_CLARITY": "0.10", "HOME": "/x"}

    changed = override_rubric_file_fields(rubric, environ)

    assert [float(c.weight) for c in changed.criteria] == [0.45, 0.1, 0.2, 0.15, 0.1]
    assert compute_fingerprint(changed) != compute_fingerprint(rubric)
    assert override_rubric_file_fields(rubric, {"PATH": "x", "LLM_COUNCIL_WEIGHT_CLARITY": ""}) == rubric


def test_the_cap_on_unsafe_outputs_is_a_setting() -> None:
    """LLM_COUNCIL_SAFETY_SCORE_CAP, default 0.0."""
    changed = override_rubric_file_fields(load_rubric("council"), {"LLM_COUNCIL_SAFETY_SCORE_CAP": "2.5"})

    assert str(changed.method.steps[-1].at) == "5/2"  # type: ignore[attr-defined]


def test_relevance_means_nothing_to_the_first_version() -> None:
    """It has no such criterion."""
    rubric = load_rubric("council-v1")

    assert override_rubric_file_fields(rubric, {"LLM_COUNCIL_WEIGHT_RELEVANCE": "0.9"}) == rubric


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {"LLM_COUNCIL_WEIGHT_ACCURACY": "0.5"},
            "environment (LLM_COUNCIL_WEIGHT_ACCURACY): the weights sum to 1.15, not 1 (council needs weights that sum to 1)",
        ),
        (
            {"LLM_COUNCIL_SAFETY_SCORE_CAP": "20"},
            "environment (LLM_COUNCIL_SAFETY_SCORE_CAP): cap at 20 is outside the scale 0–10",
        ),
        (
            {"LLM_COUNCIL_WEIGHT_ACCURACY": "lots"},
            "environment variable LLM_COUNCIL_WEIGHT_ACCURACY: must be a number, got 'lots'",
        ),
    ],
)
def test_a_wrong_setting_names_its_variable(environ: dict[str, str], said: str) -> None:
    """The place of a fault is not always a file."""
    with pytest.raises(RubricError) as caught:
        override_rubric_file_fields(load_rubric("council"), environ)

    assert str(caught.value) == said


def test_a_wrong_setting_names_a_rubric_of_your_own() -> None:
    """A run may have several, each with weights of its own; only one of them no longer sums to 1."""
    rubric = load_rubric({"name": "coding", "method": "council"})

    with pytest.raises(RubricError, match=r"^environment \(LLM_COUNCIL_WEIGHT_ACCURACY\), rubric coding: the weights"):
        override_rubric_file_fields(rubric, {"LLM_COUNCIL_WEIGHT_ACCURACY": "0.5"})
