"""Measurements in Hanabi."""
