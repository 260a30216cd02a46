"""Networks, their files and their backends; the model store."""
