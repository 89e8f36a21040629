"""One module per thing a user does: each joins rooms, opens the store, and reads clock and environment."""
