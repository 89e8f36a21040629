"""Where runs and contests are kept: SQLite at home, PostgreSQL for a team."""
