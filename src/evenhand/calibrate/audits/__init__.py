"""What can be said of judges without labels: position, length, self-preference, harshness, agreement, use of scales."""
