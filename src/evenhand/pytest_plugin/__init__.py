"""The pytest plugin: a fixture that scores an output inside a test, and one report for the session.

What scoring needs is loaded when the first output is scored; where nothing is, the plugin costs nothing.
"""

from evenhand.pytest_plugin.plugin import (
    Evenhand,
    ScoredOutput,
    evenhand_fixture,
    pytest_addoption,
    pytest_configure,
    pytest_runtest_makereport,
)

__all__ = [
    "Evenhand",
    "ScoredOutput",
    "evenhand_fixture",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
]
