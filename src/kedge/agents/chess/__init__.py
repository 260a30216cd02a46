"""The chess engine, mate proofs and human move times."""
