"""The local control plane: Kubernetes, Crossplane and Modelplane as local processes, for `make up` and the tests."""
