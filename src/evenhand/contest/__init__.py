"""Contests: a pure machine over events, the files it is fed with, and the panels that answer its questions."""
