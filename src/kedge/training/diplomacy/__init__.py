"""Training of Diplomacy models."""
