"""The simulation: what providers, and the clusters that they reach, write to the status of their objects."""
