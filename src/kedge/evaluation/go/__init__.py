"""Scoring finished games of Go."""
