"""What the page needs of each game."""
