"""Records of chess games: PGN, JSON lines."""
