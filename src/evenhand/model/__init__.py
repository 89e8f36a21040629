"""What things are: frozen values that refuse nonsense at birth."""
