"""Chess networks: lc0's files, and ratings as input."""
