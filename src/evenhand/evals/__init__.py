"""What is evaluated: the eval file, its samples, and the variants that make outputs."""
