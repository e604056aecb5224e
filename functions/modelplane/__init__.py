"""Modelplane: a control plane for AI inference over a fleet of Kubernetes GPU clusters."""

__version__ = "0.1.0"
