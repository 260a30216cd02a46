"""The paper's Go tables."""
