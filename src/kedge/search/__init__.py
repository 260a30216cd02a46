"""Search for any game: PUCT, regret minimisers, SPARTA."""
