"""Our kinds as pydantic models, one module a kind, generated from the XRDs by `make generate`."""
