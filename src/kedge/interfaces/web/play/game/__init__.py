"""A game in progress: its seats, clock, readers and storage."""
