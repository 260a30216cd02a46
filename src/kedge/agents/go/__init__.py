"""Engines and outside programs for Go."""
