"""Reads observed Kubernetes objects into the domain, each once per version of the object.

Readers of other objects (clusters, other deployments' replicas) are lenient: fields that placement does not depend on
are not read, and a field that cannot be read is unknown, never assumed to be empty. A composite's own spec is read
strictly, through the models generated from its XRD.
"""
