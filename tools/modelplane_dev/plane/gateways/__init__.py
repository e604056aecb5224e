"""Envoy Gateway with real Envoys, and engines that answer, in network namespaces of their own: no containers."""
