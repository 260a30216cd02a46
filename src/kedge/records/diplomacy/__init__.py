"""Records of Diplomacy games."""
