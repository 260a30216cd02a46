"""Agents for Diplomacy."""
