"""Fakes and builders for the tests of those who use Evenhand: they stand behind the same doors as the real ones."""

from evenhand.testing.fakes import FakeServer, ScriptedJudge, answers, made, rubric, sample, scripted_judge

__all__ = ["FakeServer", "ScriptedJudge", "answers", "made", "rubric", "sample", "scripted_judge"]
