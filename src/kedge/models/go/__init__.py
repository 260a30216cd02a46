"""Go networks: their planes."""
