"""Experiments on board games."""
