"""Solving normal-form games and measuring the solution."""
