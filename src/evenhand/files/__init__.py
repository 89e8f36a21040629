"""Files to values: YAML and JSON trees that remember their lines, and the readers of rubrics and answers."""
