"""Games in progress on the server: tables, seats, searches, storage."""
