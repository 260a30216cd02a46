"""Experiments on Diplomacy."""
