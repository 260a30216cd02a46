"""The paper's Hanabi tables."""
