"""The `diplomacy` package's game server."""
