"""Networks for Hanabi."""
