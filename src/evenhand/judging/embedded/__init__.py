"""The embedded judge: lexical rules and word vectors in place of a model; it abstains on what it cannot see."""

from evenhand.judging.embedded._claim import claim_of
from evenhand.judging.embedded._decide import Decision, Weights, decide, weights
from evenhand.judging.embedded._features import look
from evenhand.judging.embedded._reply import Replier
from evenhand.judging.embedded._text import Text
from evenhand.judging.embedded._vectors import similarity, vectors

__all__ = ["Decision", "Replier", "Text", "Weights", "claim_of", "decide", "look", "similarity", "vectors", "weights"]
