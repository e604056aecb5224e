"""Reads observed Kubernetes objects into the domain, each once per version of the object.

Readers of what others wrote (clusters, foreign replicas) are lenient: what placement does not turn on is never looked
at, and what cannot be read is unknown, never guessed to be empty. A composite's own spec is read strictly,
through the models generated from its XRD.
"""
