"""Cases whose cost is in routing: endpoints that many selectors match, and services that the gateway lists."""

from bench.fleet import NAMESPACE, Manifest, from_server
from bench.passes import Scene
from bench.tenants.table import Case, fleet
from modelplane.model.names import API_VERSION, INFERENCE_GATEWAY

#: Entries of a service, labels of a selector, keys of callers: as many as may be.
_ENTRIES, _LABELS, _KEYS = 16, 16, 64
_ENDPOINTS = 2000
#: Secrets of a service with many keys: fewer than its keys may name, because the request is held beside them.
_CROWDED = 16
#: Bytes of the largest Secret that an API server holds, and Secrets of that size.
_LARGEST, _LARGE = 1_300_000, 40


def _gateway() -> Manifest:
    metadata, status = {"name": INFERENCE_GATEWAY}, {"url": "http://gateway.example.org"}
    gateway = {"apiVersion": API_VERSION, "kind": "InferenceGateway", "metadata": metadata, "spec": {}}
    return from_server({**gateway, "status": status}, "uid-gateway", 5_000_000)


def _endpoint(number: int) -> Manifest:
    """Return a ModelEndpoint of about 2 kB that every selector of the service below matches."""
    labels = {f"team.example.org/label-{at:02}": "the-same" for at in range(_ENTRIES)}
    metadata = {"name": f"endpoint-{number:04}", "namespace": NAMESPACE, "labels": labels}
    metadata["annotations"] = {"note": "x" * 500}
    spec = {"url": f"https://provider-{number}.example.org/v1"}
    endpoint = {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata, "spec": spec}
    return from_server(endpoint, f"uid-endpoint-{number}", 6_000_000 + number)


def _service(number: int, entries: list[Manifest], **spec: object) -> Manifest:
    metadata = {"name": f"service-{number}", "namespace": NAMESPACE}
    service = {"apiVersion": API_VERSION, "kind": "ModelService", "metadata": metadata}
    whole = {**service, "spec": {"endpoints": entries, **spec}}
    return from_server(whole, f"uid-service-{number}", 7_000_000 + number)


def _overlapping() -> Scene:
    """Return the pass of a service of which each entry selects every endpoint of the namespace by another label."""
    entries: list[Manifest] = [
        {"selector": {"matchLabels": {f"team.example.org/label-{at:02}": "the-same"}}, "weight": 1, "priority": 0}
        for at in range(_ENTRIES)
    ]
    return Scene(_service(0, entries), {}, fleet(_gateway(), *map(_endpoint, range(_ENDPOINTS))))


def _largest_service(number: int) -> Manifest:
    """Return a ModelService with a spec as large as may be, and as many characters of annotations."""
    labels = {f"{'x' * 250}.{at:02}/{'y' * 63}": "z" * 63 for at in range(_LABELS)}
    entries: list[Manifest] = [{"name": f"e{at}", "selector": {"matchLabels": labels}} for at in range(_ENTRIES)]
    keys = [{"name": f"{at:063}", "secretRef": {"name": "n" * 253, "key": "k" * 253}} for at in range(_KEYS)]
    origins = [f"https://{'o' * 230}.{at:02}.example" for at in range(64)]
    service = _service(number, entries, keys=keys, cors={"allowOrigins": origins})
    return {**service, "metadata": {**service["metadata"], "annotations": {"note": "x" * 262_000}}}


def _keyed(many: int, data: dict[str, str]) -> Scene:
    """Return the pass of a service of which each key is in a Secret of its own with these values."""
    kind = {"apiVersion": "v1", "kind": "Secret"}
    secrets = [{**kind, "metadata": {"name": f"s{at}", "namespace": NAMESPACE}, "data": data} for at in range(many)]
    keys = [{"name": f"k{at}", "secretRef": {"name": f"s{at}", "key": "k"}} for at in range(many)]
    entries: list[Manifest] = [{"selector": {"matchLabels": {"none": "such"}}}]
    written = [from_server(secret, f"uid-secret-{at}", 8_000_000 + at) for at, secret in enumerate(secrets)]
    return Scene(_service(0, entries, keys=keys), {}, fleet(_gateway(), *written))


CASES = (
    Case(
        f"{_CROWDED} keys of a service, each in a Secret of 90,000 keys without values",
        lambda: _keyed(_CROWDED, {f"{key:05}": "" for key in range(90_000)}),
        ("compose-endpoint",),
    ),
    Case(
        f"{_LARGE} keys of a service, each in a Secret of 1.3 MB, once a minute",
        lambda: _keyed(_LARGE, {"k": "a2V5", "other": "QUFB" * (_LARGEST // 4)}),
        ("compose-endpoint",),
    ),
    Case("16 selectors of a service, each for the same 2,000 endpoints of 2 kB", _overlapping, ("compose-endpoint",)),
    Case(
        "an InferenceGateway beside 70 ModelServices as large as may be",
        lambda: Scene(_gateway(), {}, fleet(*map(_largest_service, range(70)))),
        ("compose-cluster",),
    ),
)
