"""Records of Hanabi games."""
