"""`kubectl modelplane` on a real API server: what each role is shown and told, and each of its requests.

The audit log says who asked for what. No command reads a Secret.
"""

import copy
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apiserver.rights import VIEWER, binding
from apiserver.server import Server
from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane_dev import components
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE
from modelplane_dev.plane.waiting import eventually

Manifest = dict[str, Any]
#: Users: of a team, who looks at a namespace and the fleet, who looks at the fleet alone, and who may do nothing.
TEAM, LOOKS, FLEET, NOBODY = "member", VIEWER, "fleet-viewer", "nobody"
OURS = "/apis/modelplane.ai/v1alpha1"


def _fleet() -> list[Manifest]:
    """Return a settled fleet as the server would have it, in dependency order."""
    control = ControlPlane([hardware(), cluster("east"), cluster("west", nodes=2), deployment(replicas=2)])
    assert control.settle()
    kinds = ("InferenceClass", "InferenceCluster", "ModelDeployment", "ModelReplica", "ModelEndpoint", "Object")
    return [obj for kind in kinds for obj in control.list(kind)]


@pytest.fixture(scope="module")
def fleet(ruled: Server) -> Iterator[Server]:
    """Yield the server with a fleet in namespace team, a Secret there, and roles that are bound."""
    api, crossplane = ruled.cluster.api, ruled.cluster.api_of(CROSSPLANE)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "team"}}
    roles = [binding("modelplane-view-fleet", FLEET), binding("modelplane-team", "member", within="team")]
    made = [secret, *roles]
    for each in _fleet():
        obj = copy.deepcopy(each)
        status = obj.pop("status", None)
        known = ("uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences", "finalizers")
        for field in known:
            obj["metadata"].pop(field, None)
        made.append(obj)
        api.apply(obj)
        if status:
            path = f"{ruled.path(obj)}/{obj['metadata']['name']}/status"
            crossplane.request("PATCH", path, {"status": status}, "application/merge-patch+json")
    for each in (secret, *roles):
        api.apply(each)
    eventually(lambda: _may(ruled, FLEET), within=60)
    yield ruled
    for each in reversed(made):
        api.request("DELETE", f"{ruled.path(each)}/{each['metadata']['name']}")


def _may(server: Server, user: str) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": user,
            "resourceAttributes": {"verb": "list", "group": "modelplane.ai", "resource": "inferenceclusters"},
        },
    }
    answer = server.cluster.api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    assert answer["status"]["allowed"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command printed, and its requests: verb and path."""

    code: int
    out: str
    err: str
    requests: tuple[str, ...]


def environment(server: Server) -> dict[str, str]:
    """Return an environment with kubectl, and its plugin from the environment that runs the tests."""
    found = server.cluster.environment()
    return {**found, "PATH": os.pathsep.join((str(Path(sys.executable).parent), found["PATH"])), "COLUMNS": "120"}


def ask(server: Server, user: str, *arguments: str) -> Asked:
    """Return what a user is answered, by kubectl's plugin."""
    command = [components.path("kubectl"), "modelplane", *arguments, *(("--as", user) if user != ADMIN else ())]
    with audited(server, user) as requests:
        done = subprocess.run(command, env=environment(server), capture_output=True, text=True, check=False)
    return Asked(done.returncode, done.stdout, done.stderr, tuple(requests))


@contextmanager
def audited(server: Server, user: str) -> Iterator[list[str]]:
    """Yield a list that has, afterwards, what a user has asked the server for meanwhile."""
    log, found = server.cluster.audit_log, list[str]()
    with log.open() as lines:
        lines.seek(0, os.SEEK_END)
        yield found
        for line in lines:
            event = json.loads(line)
            acting = event.get("impersonatedUser", event["user"])["username"]
            if acting == user and not event["requestURI"].startswith("/openapi"):
                found.append(f"{event['verb']} {event['requestURI'].partition('?')[0]}")


def listed(*plurals: str, within: str = "") -> tuple[str, ...]:
    where = f"/namespaces/{within}" if within else ""
    return tuple(f"list {OURS}{where}/{plural}" for plural in plurals)


CLUSTERS, GATEWAYS, MODELS = listed("inferenceclusters"), listed("inferencegateways"), listed("clustermodels")
OF_TEAM = listed("modeldeployments", "modelservices", "modelcaches", within="team")
WIDE = listed("modelreplicas")
NARROW = listed("modelreplicas", within="team")
NAMESPACE = ("get /api/v1/namespaces/team",)
EXPLAINED = listed("modelcaches", "modelservices", "modeldeployments", within="team")

#: By role: a command, all of its requests, what is shown, and what is said not to be known.
_Case = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
CASES: Mapping[str, _Case] = {
    "the team gets": (
        TEAM,
        ("get", "-n", "team"),
        (*CLUSTERS, *GATEWAYS, *OF_TEAM),
        ("team/chat   2 of 2  2",),
        ("clusters and their room: not known, because inferenceclusters may not be listed", "inferencegateways"),
    ),
    "the team asks why": (
        TEAM,
        ("why", "team/chat"),
        (*NAMESPACE, *CLUSTERS, *MODELS, *EXPLAINED, *WIDE, *NARROW),
        ("ModelDeployment team/chat: Ready, 2 of 2 placed, 2 serving",),
        ("inferenceclusters may not be listed", "clustermodels may not be listed"),
    ),
    "who looks gets": (
        LOOKS,
        ("get", "-n", "team"),
        (*CLUSTERS, *GATEWAYS, *OF_TEAM),
        ("1 deployment", "east", "team/chat"),
        (),
    ),
    "who looks asks why": (
        LOOKS,
        ("why", "team/chat"),
        (*NAMESPACE, *CLUSTERS, *MODELS, *EXPLAINED, *WIDE, *NARROW),
        ("Ready, 2 of 2 placed, 2 serving",),
        (),
    ),
    "who sees the fleet gets": (
        FLEET,
        ("get", "-n", "team"),
        (*CLUSTERS, *GATEWAYS, *OF_TEAM),
        ("0 deployments", "gpu: 16 of 24 claimed, 8 free"),
        ("deployments: not known, because modeldeployments may not be listed in namespace team",),
    ),
    "who sees the fleet asks what fits": (
        FLEET,
        ("capacity", "--gpus", "8", "-n", "team"),
        CLUSTERS,
        ("1 more of one engine of 8 devices on 1 node",),
        (),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_role_asks_for_no_more_than_it_needs_and_is_told_what_is_not_known(fleet: Server, case: _Case) -> None:
    user, arguments, requests, shown, unknown = case
    asked = ask(fleet, user, *arguments)
    assert (asked.code, sorted(asked.requests)) == (0, sorted(requests)), asked.err
    text = " ".join(asked.out.split())
    assert [each for each in (*shown, *unknown) if " ".join(each.split()) not in text] == []
    if not unknown:
        assert "may not be listed" not in text


def test_what_may_not_be_listed_at_all_is_exit_code_2_with_the_servers_words(fleet: Server) -> None:
    asked = ask(fleet, NOBODY, "get", "-n", "team")
    assert (asked.code, asked.out) == (2, "")
    assert 'inferenceclusters.modelplane.ai is forbidden: User "nobody" cannot list resource' in asked.err


#: Commands of who may do everything, none of which may read a Secret.
COMMANDS = (
    ("get", "-A"),
    ("get", "-A", "-o", "json", "--objects"),
    ("why", "team/chat"),
    ("tree", "team/chat"),
    ("capacity",),
    ("capacity", "team/chat"),
    ("profiles",),
    ("check",),
)


def test_no_command_reads_a_secret_even_of_who_may(fleet: Server) -> None:
    asked = [ask(fleet, ADMIN, *each) for each in COMMANDS]
    assert [(each.code, each.err) for each in asked if each.code not in (0, 1)] == []
    requests = [request for each in asked for request in each.requests]
    assert len(requests) > len(COMMANDS)
    assert [each for each in requests if "secrets" in each or each.split()[0] not in {"get", "list", "create"}] == []
    reviews = {each for each in requests if each.startswith("create")}
    assert reviews == {"create /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"}


def test_a_tree_ends_at_the_workloads_for_who_may_not_read_the_objects_of_the_provider(fleet: Server) -> None:
    whole, ours = ask(fleet, ADMIN, "tree", "team/chat"), ask(fleet, TEAM, "tree", "team/chat")
    assert "NetworkPolicy modelplane on east/mp-team" in whole.out
    assert "Objects, not read" in ours.out
    assert "1 of 1 ready" in ours.out
    # One that is not allowed is enough to know it of all.
    assert len([each for each in ours.requests if "kubernetes.m.crossplane.io" in each and "/namespaces/" in each]) == 1


def test_live_and_the_export_of_kubectl_are_shown_alike(fleet: Server) -> None:
    live = json.loads(ask(fleet, ADMIN, "get", "-A", "-o", "json").out)
    export = fleet.cluster.kubectl("get", "inferenceclusters,modeldeployments,modelreplicas", "-A", "-o", "json")
    command = [str(Path(sys.executable).parent / "modelplane"), "get", "-f", "-", "-o", "json"]
    done = subprocess.run(command, input=export, capture_output=True, text=True, check=True)
    assert {**json.loads(done.stdout), "asOf": ""} == {**live, "asOf": ""}


def test_a_watch_prints_the_rows_that_change_and_no_others(fleet: Server) -> None:
    watch = [str(components.path("kubectl")), "modelplane", "get", "deployments", "-n", "team", "-w"]
    # Whoever runs the tests in the background may ignore the signal.
    command = ["env", "--default-signal=INT", *watch]
    with subprocess.Popen(
        command, env={**environment(fleet), "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(2)]
        assert first[1].startswith("team/chat")
        path = f"{OURS}/namespaces/team/modeldeployments/chat"
        fleet.cluster.api.request("PATCH", path, {"spec": {"replicas": 3}}, "application/merge-patch+json")
        changed = [process.stdout.readline() for _ in range(5)]
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 130
        finally:
            process.kill()
    fleet.cluster.api.request("PATCH", path, {"spec": {"replicas": 2}}, "application/merge-patch+json")
    assert [line.split()[:4] for line in changed if line.startswith("team/chat")] == [["team/chat", "2", "of", "3"]]


def test_a_name_that_is_not_there_is_answered_with_the_nearest(fleet: Server) -> None:
    asked = ask(fleet, ADMIN, "tree", "team/chad")
    assert (asked.code, "There is no ModelDeployment team/chad; the nearest: team/chat." in asked.err) == (2, True)
