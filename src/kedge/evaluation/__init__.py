"""Measurements: prediction, matches, tournaments, reviews of games."""
