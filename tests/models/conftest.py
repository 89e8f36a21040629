"""How models in files are asked: in as few words as those on servers."""

from tests.judging.terse import language

__all__ = ["language"]
