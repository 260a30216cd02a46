"""Training: human models from human games. Needs the ``[train]`` extra (torch)."""
