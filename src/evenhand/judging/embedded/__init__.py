"""The embedded judge: rules that answer yes/no criteria without a model, and abstain where they cannot."""
