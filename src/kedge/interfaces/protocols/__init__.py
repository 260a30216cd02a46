"""Protocols of other programs: UCI, GTP, the `diplomacy` server."""
