"""Agents for Hanabi."""
