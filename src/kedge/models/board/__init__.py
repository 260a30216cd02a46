"""Networks for board games: planes in, policy and value out."""
