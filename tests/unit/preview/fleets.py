"""The fleet of `given.manifests`, by its earlier name."""

from given.manifests import cluster, deployment, hardware

__all__ = ["cluster", "deployment", "hardware"]
