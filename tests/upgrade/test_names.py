"""What an earlier version has named keeps its name: an upgrade makes no object of a route or an engine anew."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.model.routing import Endpoint
from property.externals import CERTIFICATE, External
from property.routes import address
from property.services import Service, Store, without_status
from unit.compose_replica import replicas

#: The names of objects as they were before names ended in 16 hexadecimal digits, by their composite and what they were
#: composed as. Written once, by that version.
ROUTES: Mapping[str, Mapping[str, str]] = yaml.safe_load(Path(__file__).with_name("routes.yaml").read_text())
#: Replicas as the last version left them whose engines' names ended in 8 hexadecimal digits: the replica, and its
#: Objects by what they were composed as. Written once, by that version.
ENGINES: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("engines.yaml").read_text())
READY = Endpoint("e-1", {"tier": "a"}, address("e-1", mutual_tls=True), ready=True)
KEYS = {"keys": [{"name": "ann", "secretRef": {"name": "keys", "key": "ann"}}], "cors": {"allowOrigins": ["*"]}}
TIMES = {"timeouts": {"request": "30s"}, "affinity": {"header": "x-session"}}
PROVIDER = {
    "url": "https://api.example.com/openai/v1",
    "model": "vendor/model",
    "credential": {"secretRef": {"name": "s", "key": "k"}},
    "tls": {"caSecretRef": {"name": "s", "key": "ca"}},
}


def composite(owner: str) -> Service | External:
    """Return the composite whose objects' names were recorded, as it was then."""
    kind, _, name = owner.partition("/")
    if kind == "endpoint":
        return External(name=name, spec=PROVIDER, secrets={"s": {"k": b"key", "ca": CERTIFICATE}})
    return Service(name=name, endpoints=[READY], spec={**TIMES, **KEYS}, secrets={"keys": {"ann": b"a"}})


def named_by(before: Mapping[str, str], store: Store) -> Store:
    """Return objects under their earlier names, by which they refer to each other too."""
    renamed = {body["metadata"]["name"]: before[resource] for resource, body in store.items()}

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(each) for key, each in value.items()}
        if isinstance(value, list):
            return [turned(each) for each in value]
        return renamed.get(value, value) if isinstance(value, str) else value

    return {resource: turned(body) for resource, body in store.items()}


@pytest.mark.parametrize("owner", ROUTES)
def test_the_objects_of_a_route_keep_the_names_that_an_earlier_version_has_given_them(owner: str) -> None:
    made = composite(owner)
    made.settle()
    assert made.store.keys() == ROUTES[owner].keys()
    made.store = named_by(ROUTES[owner], made.store)
    assert made.desired() == without_status(made.store)
    kept = {resource: body["metadata"]["name"] for resource, body in made.desired().items()}
    assert kept == dict(ROUTES[owner])


@pytest.mark.parametrize("owner", ROUTES)
def test_what_comes_to_an_earlier_route_is_named_as_today_and_is_what_the_route_refers_to(owner: str) -> None:
    made = composite(owner)
    made.settle()
    new = "backend" if isinstance(made, External) else "endpoint-host"
    fresh = made.store[new]["metadata"]["name"]
    made.store = {each: body for each, body in named_by(ROUTES[owner], made.store).items() if each != new}
    made.settle()
    assert made.store[new]["metadata"]["name"] == fresh != ROUTES[owner][new]
    assert fresh in json.dumps(made.store["route"], default=str)


def manifests(objects: Mapping[str, Any]) -> dict[str, Any]:
    return {resource: body["spec"].get("forProvider", {}).get("manifest") for resource, body in objects.items()}


def after(topology: str, replica: Mapping[str, Any]) -> dict[str, Any]:
    """Return what today's version puts on the cluster for a replica that the earlier one left serving, by resource."""
    observed = {resource: replicas.provided(body) for resource, body in ENGINES[topology]["objects"].items()}
    return manifests({name: made.build() for name, made in replicas.run(replica, observed).desired.items()})


def without_isolation(composed: Mapping[str, Any]) -> dict[str, Any]:
    """Return manifests without what NetworkPolicies say: a version may close more, which restarts nothing."""
    return {
        resource: {**made, "spec": None} if made and made["kind"] == "NetworkPolicy" else made
        for resource, made in composed.items()
    }


@pytest.mark.parametrize("topology", ENGINES)
def test_what_runs_keeps_its_names_and_is_composed_as_it_was(topology: str) -> None:
    left = ENGINES[topology]
    assert without_isolation(after(topology, left["replica"])) == without_isolation(manifests(left["objects"]))


@pytest.mark.parametrize("topology", ENGINES)
def test_an_edit_of_what_runs_is_a_rollout_of_the_same_workloads(topology: str) -> None:
    left = ENGINES[topology]
    edited = json.loads(json.dumps(left["replica"]))
    for engine in edited["spec"]["engines"]:
        for member in engine["members"]:
            container = member["template"]["spec"]["containers"][0]
            container["args"] = [*container.get("args", []), "--max-num-seqs=8"]
    found, before = after(topology, edited), manifests(left["objects"])
    kinds = ("Deployment", "LeaderWorkerSet")
    running = [resource for resource, made in before.items() if made and made["kind"] in kinds]
    assert running
    for resource in running:
        assert found[resource]["metadata"] == before[resource]["metadata"]
        assert found[resource]["spec"] != before[resource]["spec"] or resource == "picker"


def test_an_engine_that_becomes_a_gang_is_named_as_today() -> None:
    found = after("standalone", replicas.replica(replicas.gang()))
    fresh = replicas.manifest_of(replicas.run(replicas.replica(replicas.gang())), "leaderworkerset-main")
    assert found["leaderworkerset-main"]["metadata"]["name"] == fresh["metadata"]["name"]
    earlier = manifests(ENGINES["gang"]["objects"])["leaderworkerset-main"]
    assert fresh["metadata"]["name"] != earlier["metadata"]["name"]
