"""Training of Hanabi models."""
