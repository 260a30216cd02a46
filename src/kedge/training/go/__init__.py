"""Training of Go models."""
