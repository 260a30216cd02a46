"""Agents for normal-form games."""
