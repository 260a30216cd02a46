"""The paper's chess tables."""
