"""Fakes and builders for the tests of those who use Evenhand: they stand behind the same doors as the real ones."""

from evenhand.testing._builders import answers, made, rubric, sample
from evenhand.testing._judge import ScriptedJudge, scripted_judge
from evenhand.testing._server import FakeServer

__all__ = ["FakeServer", "ScriptedJudge", "answers", "made", "rubric", "sample", "scripted_judge"]
