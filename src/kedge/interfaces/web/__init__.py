"""The page: an HTTP API over games in progress, and the front end that lives on it alone."""
