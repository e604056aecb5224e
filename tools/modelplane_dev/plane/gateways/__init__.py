"""Envoy Gateway with real Envoys, and fake engines, in network namespaces instead of containers."""
