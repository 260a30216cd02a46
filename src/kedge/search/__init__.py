"""Searches that know no game: PUCT, regret minimisers, SPARTA."""
