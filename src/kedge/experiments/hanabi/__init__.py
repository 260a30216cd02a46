"""Experiments on Hanabi."""
