"""Imitation learning for board games."""
