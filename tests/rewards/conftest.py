"""Trainers are tried by `make soak` alone: their environments take minutes to build."""

from tests.soak import SOAK

collect_ignore = [] if SOAK else ["test_trainers.py"]
