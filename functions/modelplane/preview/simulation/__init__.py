"""The simulation: the statuses that providers, and the clusters that they reach, write."""
