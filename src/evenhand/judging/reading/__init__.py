"""Reading scores out of replies: JSON, tables, lists and prose, and never a number that was not given."""
