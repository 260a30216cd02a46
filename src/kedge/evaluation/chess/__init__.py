"""Measurements in chess alone: ratings."""
