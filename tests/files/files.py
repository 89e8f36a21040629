"""Rubric files for tests, and what is said about wrong ones."""

from pathlib import Path

import pytest

from evenhand import RubricError, load_rubric

CHECKLIST = """\
rubrics:
  - Mentions divide-and-conquer approach
  - id: complexity
    expected_outcome: States time complexity correctly
    weight: 2.0
    required: true
  - id: examples
    description: Includes code examples
    weight: 1.0
    required: false
"""
MAP = """\
rubrics:
  - id: correctness
    weight: 2.0
    required_min_score: 7
    score_ranges:
      0: Critical bugs
      3: Minor bugs
      6: Correct with minor issues
      9: Fully correct
"""
ARRAY = """\
rubrics:
  - id: correctness
    weight: 2.0
    required_min_score: 7
    score_ranges:
      - score_range: [0, 2]
        expected_outcome: Critical bugs
      - score_range: [3, 5]
        expected_outcome: Minor bugs
      - score_range: [6, 8]
        expected_outcome: Correct with minor issues
      - score_range: [9, 10]
        expected_outcome: Fully correct
"""


def faults(text: str, tmp_path: Path, name: str = "r.yaml") -> list[str]:
    """What is said about a wrong file, without the folder."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    return str(caught.value).replace(f"{tmp_path}/", "").splitlines()
