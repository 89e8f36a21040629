"""Models behind one door: wire formats, connections, limits, budgets, records and prices."""
