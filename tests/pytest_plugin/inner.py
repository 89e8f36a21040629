"""Runs a test file with the plugin, as a user's session would; what scoring needs is loaded before."""

import pytest

import evenhand.pytest_plugin.scoring

# Inner sessions run in this process: whatever they load first they take away again, and NumPy cannot be loaded twice.
import evenhand.report.html
import evenhand.workflows.score_in_test  # noqa: F401

HEAD = """
import pytest
from evenhand.testing import made, rubric, scripted_judge

ANSWER = "Thank you for writing. Your refund is on its way."
POLITE = rubric("polite", "short", method="checklist")
SOFT = rubric({"id": "polite", "asks": "Is it polite?", "required": False})
GRADED = rubric(method="judge-skill")
BOTH = scripted_judge({"polite": True, "short": True})
ONE = scripted_judge({"polite": True, "short": False})
NONE = scripted_judge({"polite": False})
EIGHTS = scripted_judge({leaf: 8 for leaf in GRADED.leaves})
"""
STRICT = ("-W", "error", "--strict-markers", "-p", "no:cacheprovider", "-p", "no:randomly")


def ran(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    """What came of a session over these tests."""
    pytester.makepyfile(test_shop=HEAD + tests)
    return pytester.runpytest_inprocess(*STRICT, *options)
