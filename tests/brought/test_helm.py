"""The serving stack by the real provider-helm: installed in order, kept through kills and faults, never uninstalled."""

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from brought.helm import PARTS, RELEASE, Site, site
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.stack import PARTS as FACTS
from modelplane.stack import Part
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.waiting import eventually
from unit.compose_cluster.stacks import condition, message, states

#: Seconds in which all charts are installed.
LONG = 240.0
CHARTS = {chart.name for part in PARTS for chart in FACTS[part].charts}
#: Generations of a Release until it is settled: it observes, it installs, and the provider writes it once.
MOST = 3
#: An object of LeaderWorkerSet's chart, cluster-scoped.
FOREIGN, ROLE = "mp-lws-manager-role", Kind("rbac.authorization.k8s.io/v1", "ClusterRole")
#: The inventory cannot be Present.
ASKED = {str(part): "Managed" if part in PARTS else "Present" for part in Part if part is not Part.INVENTORY}


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run a cluster without a stack, and provider-helm."""
    with pytest.MonkeyPatch.context() as patch, site(tmp_path_factory.mktemp("helm")) as (running, repository):
        patch.setenv("MODELPLANE_CHARTS", repository)
        running.spec, running.late = {"parts": ASKED}, {"mp-cert-manager-webhook"}
        yield running


def until(brought: Site, **wanted: str) -> None:
    """Run passes until the parts have these states."""

    def reached() -> None:
        found = states(brought.turn())
        assert {part: found[part] for part in wanted} == wanted, brought.status

    eventually(reached, within=LONG)


def test_a_stack_is_installed_in_order_taken_over_and_left_behind(brought: Site) -> None:
    _another_has_made_an_object(brought)
    _killed_while_it_installs(brought)
    _empty_cluster(brought)
    _killed_in_the_middle(brought)
    _stuck_in_a_rollback(brought)
    _added_again(brought)


def _another_has_made_an_object(brought: Site) -> None:
    """Let an object of the chart be somebody else's: Helm installs nothing, and it stays as it is."""
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": FOREIGN}}
    before = brought.east.api.apply({**role, "rules": []})
    until(brought, lws="Failed")
    found = message(brought.turn(), Part.LWS)
    assert f'ClusterRole "{FOREIGN}" in namespace "" exists and cannot be imported into the current release' in found
    assert found.endswith("If the cluster has LeaderWorkerSet already, set spec.stack.lws to Present")
    assert "mp-lws" not in brought.revisions()
    assert brought.east.api.get(ROLE, FOREIGN) == before
    brought.east.api.delete(ROLE, FOREIGN)


def _killed_while_it_installs(brought: Site) -> None:
    """Kill the provider while a hook of Envoy Gateway's chart runs; the install is undone and done again."""
    brought.hooks = False

    def pending() -> None:
        brought.turn()
        assert brought.revisions().get("mp-gateway-helm") == "1 pending-install"

    eventually(pending, within=LONG)
    brought.provider.stop()
    assert brought.revisions()["mp-gateway-helm"] == "1 pending-install"
    brought.hooks = True
    brought.provider.start()
    until(brought, gateway="Running")


def _empty_cluster(brought: Site) -> None:
    """Install on an empty cluster; AI Gateway only once cert-manager's webhook runs."""
    until(brought, gateway="Running", lws="Running", certManager="Installing", aiGateway="Waiting")
    assert "mp-ai-gateway-helm" not in brought.revisions()
    brought.late = set()
    until(brought, **{str(part): "Running" for part in PARTS})
    assert brought.revisions() == {f"mp-{name}": "1 deployed" for name in CHARTS}
    _written_as_the_provider_writes_it(brought)


def _written_as_the_provider_writes_it(brought: Site) -> None:
    """Change nothing of a settled Release, and have nothing changed: each writes what the other has written."""
    before = {name: each["metadata"]["generation"] for name, each in brought.releases().items()}
    assert max(before.values()) <= MOST, before
    for _ in range(3):
        brought.turn()
    assert {name: each["metadata"]["generation"] for name, each in brought.releases().items()} == before


def _killed_in_the_middle(brought: Site) -> None:
    """Kill the provider; nothing of what runs changes, and what it did not see is reported once it is back."""
    before = brought.revisions()
    brought.provider.stop()
    assert condition(brought.turn()).type == "PartsReady"
    brought.provider.start()
    until(brought, **{str(part): "Running" for part in PARTS})
    assert brought.revisions() == before


def _stuck_in_a_rollback(brought: Site) -> None:
    """Let Helm have been stopped in a rollback: the words are real, and so is the way out."""
    secrets = brought.east.api.list(Kind("v1", "Secret"), "lws-system", name="mp-lws", owner="helm")
    (release,) = secrets
    stuck = _as_revision(release, 2, "pending-rollback")
    brought.east.api.request("POST", "/api/v1/namespaces/lws-system/secrets", stuck)
    until(brought, lws="Failed")
    found = message(brought.turn(), Part.LWS)
    command = "kubectl delete secret sh.helm.release.v1.mp-lws.v2 -n lws-system"
    assert command in found
    brought.east.kubectl(*command.split()[1:])
    until(brought, lws="Running")
    assert brought.revisions()["mp-lws"] == "1 deployed"


def _as_revision(secret: dict[str, Any], number: int, status: str) -> dict[str, Any]:
    """Return the Secret of a release as that of another revision in another state, as Helm writes it."""
    release = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(secret["data"]["release"]))))
    release |= {"version": number, "info": {**release["info"], "status": status, "description": "Rollback to 1"}}
    packed = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(release).encode()))).decode()
    labels = {**secret["metadata"]["labels"], "version": str(number), "status": status}
    name = f"sh.helm.release.v1.mp-lws.v{number}"
    metadata = {"name": name, "namespace": "lws-system", "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": secret["type"],
        "metadata": metadata,
        "data": {"release": packed},
    }


def _added_again(brought: Site) -> None:
    """Delete what the ServingStack composed: all stays on the cluster, and is taken over at the same revisions."""
    before = brought.revisions()
    for each in brought.hub.api.list(RELEASE, SYSTEM_NAMESPACE):
        brought.hub.api.delete(RELEASE, each["metadata"]["name"], SYSTEM_NAMESPACE)

    def gone() -> None:
        assert brought.hub.api.list(RELEASE, SYSTEM_NAMESPACE) == []

    eventually(gone, within=60.0)
    assert brought.revisions() == before
    brought.status = {}
    until(brought, **{str(part): "Running" for part in PARTS})
    assert brought.revisions() == before
