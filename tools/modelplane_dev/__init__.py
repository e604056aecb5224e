"""What Modelplane is developed with: real components, packages, and a control plane of local processes.

components   builds and finds the real components, each set from its own pinned Go module in tools/<set>
processes    runs programs as processes that end with the one that started them
packages     builds what is installed on a control cluster
rendering    composes one manifest on the real Crossplane engine
plane        the local control plane: `make up`, and what the end-to-end tests run on
generate     writes the pydantic models of our kinds
pythons      finds another version of Python for the tests
"""
