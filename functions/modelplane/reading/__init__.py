"""Reads a fleet from manifests in memory or from a control plane; tables and traces take any reader."""

from modelplane.reading.reader import Reader

__all__ = ["Reader"]
