"""The server's side of each game on the page."""
