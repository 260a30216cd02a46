"""The commands of `kedge`, one module each."""
