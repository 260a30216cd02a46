"""Training of chess models."""
