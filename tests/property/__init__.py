"""Properties of the scheduler on random fleets, against brute-force oracles that share no code with it."""
