"""Reads a fleet, whoever holds it: manifests in memory or a control plane; tables and traces are made over a reader."""

from modelplane.reading.reader import Reader

__all__ = ["Reader"]
