"""The program `modelplane hydrate`: brings a repository onto a volume, whole and verified, or says why not."""

from modelplane.hydrate.snapshot import HydrateSettings, hydrate, resolve

__all__ = ["HydrateSettings", "hydrate", "resolve"]
