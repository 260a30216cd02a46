"""Ways in: parse, call, print. They compute nothing."""
