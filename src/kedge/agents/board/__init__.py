"""Agents for board games: a network alone, and PUCT over it."""
