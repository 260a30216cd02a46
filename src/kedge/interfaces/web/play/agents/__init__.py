"""Agents at work on the server: they play, advise, review and answer, in threads."""
