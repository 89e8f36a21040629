"""evals, variants."""
