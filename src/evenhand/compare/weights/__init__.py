"""The ranking of variants under other weights: drawn ones, each one left out, and the smallest change that turns it."""
