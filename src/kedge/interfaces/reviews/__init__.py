"""Reviews of games as text, PGN, SGF and JSON."""
