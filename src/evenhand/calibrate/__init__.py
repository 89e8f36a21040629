"""Judges against people, and judges against each other: agreement, bias, calibration, recommended panels."""
