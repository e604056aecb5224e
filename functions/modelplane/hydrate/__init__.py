"""The program `modelplane hydrate`: downloads a complete, verified repository to a volume, or says why it cannot."""

from modelplane.hydrate.snapshot import HydrateSettings, hydrate, resolve

__all__ = ["HydrateSettings", "hydrate", "resolve"]
