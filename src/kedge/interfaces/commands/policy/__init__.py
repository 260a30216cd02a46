"""`kedge policy`: what an agent would play, and why."""
