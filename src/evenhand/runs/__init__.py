"""Executing an eval: work on one sample, replies and results that are kept, and the summary of a run."""
