"""Composes one of our objects on the real Crossplane engine, offline: `make render`."""
