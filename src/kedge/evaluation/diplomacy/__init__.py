"""Measurements in Diplomacy."""
