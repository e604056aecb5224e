"""The words in which scenarios of routing are written: the gateway, a service, its route and Backends."""

from collections.abc import Mapping
from dataclasses import dataclass

from e2e.fleet import Fleet
from modelplane.model.names import API_VERSION, LABEL_DEPLOYMENT
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.envoy_gateway import BACKEND, ROUTE

SERVICE = Kind(API_VERSION, "ModelService")


def model_service(name: str, namespace: str, weights: Mapping[str, int]) -> Manifest:
    """Return a ModelService over deployments, each with a weight."""
    entries = [
        {"name": each, "weight": weight, "selector": {"matchLabels": {LABEL_DEPLOYMENT: each}}}
        for each, weight in weights.items()
    ]
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API_VERSION, "kind": "ModelService", "metadata": metadata, "spec": {"endpoints": entries}}


@dataclass(frozen=True, slots=True)
class ObservedService:
    """A ModelService of a fleet's namespace, as the control cluster shows it."""

    fleet: Fleet
    name: str

    @property
    def manifest(self) -> Manifest:
        """Return the ModelService; empty when there is none."""
        return self.fleet.plane.hub.api.get(SERVICE, self.name, self.fleet.tag) or {}

    @property
    def route(self) -> Manifest:
        """Return its HTTPRoute; asserts that there is one."""
        found = self._owned(ROUTE)
        assert len(found) == 1, found
        return found[0]

    def shares(self) -> dict[frozenset[str], int]:
        """Return the weight of each Backend that its route refers to, by its endpoints' names; asserts it is there."""
        listed = {
            each["metadata"]["name"]: frozenset(
                endpoint["hostname"].partition(".")[0] for endpoint in each["spec"]["endpoints"]
            )
            for each in self.backends
        }
        references = self.route["spec"]["rules"][0].get("backendRefs", [])
        # Both are read one after the other, and a Backend may have come or gone in between.
        assert listed.keys() >= {each["name"] for each in references}, references
        return {listed[each["name"]]: each["weight"] for each in references}

    @property
    def backends(self) -> list[Manifest]:
        """Return its Backends."""
        return self._owned(BACKEND)

    def _owned(self, kind: Kind) -> list[Manifest]:
        found = self.fleet.plane.hub.api.list(kind, self.fleet.tag)
        owners = [(each, owner) for each in found for owner in each["metadata"].get("ownerReferences", ())]
        return [each for each, owner in owners if (owner["kind"], owner["name"]) == (SERVICE.kind, self.name)]
