"""Experiments on Go."""
