"""Records of Go games: SGF, tables, arrays."""
