"""What `modelplane inventory` needs, on the real API server: every right it has, and none beside them."""

import copy
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from apiserver.server import Server
from modelplane.inventory import run
from modelplane.kube.inventory import OWN_RIGHTS, RIGHTS, around, config_map, deployment
from modelplane.model.names import INVENTORY, INVENTORY_KEY, LABEL_POOL
from modelplane.observe import ApiServer
from modelplane.observed.inventory import read_inventory
from modelplane_dev.plane.api import Kind

_CONFIG_MAP = Kind("v1", "ConfigMap")


def token(server: Server, folder: Path) -> Path:
    path = f"/api/v1/namespaces/{INVENTORY}/serviceaccounts/{INVENTORY}/token"
    found = server.cluster.api.request("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"})
    file = folder / "token"
    file.write_text(found["status"]["token"])
    return file


@contextmanager
def installed(server: Server, **rules: list[dict[str, Any]]) -> Iterator[None]:
    """Apply what the process needs, with other rules where they are given, and remove it."""
    manifests = copy.deepcopy(around())
    for name, found in rules.items():
        manifests[name]["rules"] = found
    made = [*manifests.values(), config_map()]
    for each in made:
        server.cluster.api.apply(each)
    try:
        yield
    finally:
        for each in made:
            if each["kind"] != "Namespace":
                kind = Kind(each["apiVersion"], each["kind"])
                server.cluster.api.delete(kind, INVENTORY, each["metadata"].get("namespace"))


@pytest.fixture
def authority(server: Server, tmp_path: Path) -> Path:
    """Return a file with the CA of the server's certificate."""
    file = tmp_path / "ca.crt"
    file.write_text("".join(map(ssl.DER_cert_to_PEM_cert, server.cluster.api.trust.get_ca_certs(binary_form=True))))
    return file


def published(server: Server, authority: Path) -> str:
    """Return what a process with the account's token publishes in one reading."""
    ended = threading.Event()
    ended.set()
    api = server.cluster.api
    address = urlsplit(api.url)
    held = token(server, authority.parent)
    asked = ApiServer(address.hostname or "", address.port or 443, authority, held)
    run(asked, every=1, ended=ended, clock=lambda: 1000.0)
    found = api.get(_CONFIG_MAP, INVENTORY, INVENTORY) or {}
    return str((found.get("data") or {}).get(INVENTORY_KEY, ""))


def test_what_it_needs_is_taken(server: Server) -> None:
    with installed(server):
        assert server.refusal(deployment("example.org/modelplane:v1", ["amd64", "arm64"])) == ""


def test_with_its_rights_it_publishes_what_nodes_have(server: Server, authority: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1", "labels": {LABEL_POOL: "h100"}}}
    server.cluster.api.apply(node)
    try:
        with installed(server):
            document = published(server, authority)
    finally:
        server.cluster.api.delete(Kind("v1", "Node"), "gpu-1")
    uid = server.cluster.api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    found = read_inventory({"data": {INVENTORY_KEY: document}}, uid)
    assert not isinstance(found, str), found
    ((state, nodes),) = found.nodes("h100")
    assert (nodes, state.ready) == (1, False)


#: Every right, as the role that has it, its rule and the resource that is left out of it.
LACKING = [
    (role, number, resource, verb)
    for role, rules in (("reads", RIGHTS), ("writes", OWN_RIGHTS))
    for number, rule in enumerate(rules)
    for resource in rule["resources"]
    for verb in rule["verbs"]
]


@pytest.mark.parametrize("right", LACKING, ids=lambda right: " ".join(map(str, right)))
def test_without_any_of_its_rights_it_publishes_nothing(
    right: tuple[str, int, str, str], server: Server, authority: Path
) -> None:
    role, number, resource, verb = right
    rules = copy.deepcopy(RIGHTS if role == "reads" else OWN_RIGHTS)
    whole = rules[number]
    others = [each for each in whole["resources"] if each != resource]
    other_verbs = [each for each in whole["verbs"] if each != verb]
    rules[number : number + 1] = [
        {**whole, "resources": resources, "verbs": verbs}
        for resources, verbs in ((others, whole["verbs"]), ([resource], other_verbs))
        if resources and verbs
    ]
    with installed(server, **{role: rules}):
        assert published(server, authority) == ""
