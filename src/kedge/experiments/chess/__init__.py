"""Experiments on chess."""
