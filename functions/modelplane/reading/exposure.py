"""Which ModelServices route requests to a ModelDeployment, and the one to apply where none does."""

from modelplane.model.names import API_VERSION, GROUP, LABEL_CLUSTER, LABEL_DEPLOYMENT, LABEL_REPLICA_INDEX
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest, items, mapping

_SERVICE = f"ModelService.{GROUP}"
_DEPLOYMENT = f"ModelDeployment.{GROUP}"
#: Labels of a replica's endpoint whose values depend on where it is placed.
_PLACED = frozenset({LABEL_CLUSTER, LABEL_REPLICA_INDEX})


def find_services(reader: Reader, deployment: Manifest) -> list[str]:
    """Return the names of the services that select endpoints of a deployment, wherever its replicas are placed."""
    return sorted(each["metadata"]["name"] for each in reader.list(_SERVICE) if _routes(each, deployment))


def find_deployments(reader: Reader, service: Manifest) -> list[Manifest]:
    """Return the deployments whose endpoints a service selects, wherever their replicas are placed."""
    return [each for each in reader.list(_DEPLOYMENT) if _routes(service, each)]


def _routes(service: Manifest, deployment: Manifest) -> bool:
    metadata = deployment["metadata"]
    labels = {**mapping(deployment, "spec", "replicaLabels"), LABEL_DEPLOYMENT: metadata["name"]}
    selectors = (mapping(entry, "selector", "matchLabels") for entry in items(service, "spec", "endpoints"))
    return service["metadata"]["namespace"] == metadata["namespace"] and any(
        _selects(each, labels) for each in selectors
    )


def _selects(selector: Manifest, labels: Manifest) -> bool:
    return all(key in _PLACED or labels.get(key) == value for key, value in selector.items())


def propose_service(namespace: str, name: str) -> Manifest:
    """Return the manifest of a ModelService that serves a deployment under its name."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelService",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"endpoints": [{"selector": {"matchLabels": {LABEL_DEPLOYMENT: name}}}]},
    }
