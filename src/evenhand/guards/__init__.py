"""What looks at an output before any judge: injection, unsafe passages, personal data."""
