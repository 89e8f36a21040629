"""A contest as one HTML page."""
