"""Which endpoints a ModelService sends requests to, in which Backends, and what its route may refer to. Pure."""
