"""Measurements that chess, Go and other board games share."""
