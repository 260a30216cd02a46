"""The paper's Diplomacy tables."""
