"""A fake of Google Cloud with a bill, and of provider-gcp, which makes there what managed resources ask for.

It imitates what goes wrong with the real ones: references that are resolved late and once, work in the background that
fails in Google's words, fields that cannot be changed and whose edit blocks every other, node pools whose nodes are
made anew, resources that cannot go before others have gone, and load balancers that no cluster takes along. Time is
counted in ticks. It has no processes: a property drives it over a preview, a scenario over a real API server.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Manifest = Mapping[str, Any]
#: Kind and name of something in the cloud.
Place = tuple[str, str]
#: Returns why the cloud does not make or change something (kind, name, fields), None if it does.
Refusal = Callable[[str, str, Manifest], str | None]

#: Terraform's arguments that are ForceNew, by kind: resource_container_cluster.go, resource_container_node_pool.go and
#: node_config.go, resource_compute_network.go, resource_compute_subnetwork.go, resource_google_service_account_key.go.
FORCE_NEW: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "Network": (("autoCreateSubnetworks",),),
    "Subnetwork": (("region",), ("network",)),
    "Cluster": (
        ("location",),
        ("network",),
        ("subnetwork",),
        ("ipAllocationPolicy",),
        ("networkingMode",),
        ("datapathProvider",),
        ("initialNodeCount",),
    ),
    "NodePool": (
        ("location",),
        ("cluster",),
        ("maxPodsPerNode",),
        ("nodeConfig", "guestAccelerator"),
        ("nodeConfig", "reservationAffinity"),
        ("nodeConfig", "oauthScopes"),
    ),
    "ServiceAccountKey": (("serviceAccountId",),),
    "ProjectIAMMember": (("project",), ("role",), ("member",)),
}
#: Fields of a node pool whose change makes its nodes anew.
ROLLING: Final = (
    ("nodeConfig", "machineType"),
    ("nodeConfig", "diskSizeGb"),
    ("nodeConfig", "imageType"),
    ("nodeConfig", "labels"),
    ("nodeConfig", "taint"),
    ("nodeLocations",),
    ("version",),
)
#: The field that each reference is resolved into, and the kind that it leads to.
REFERENCES: Final = {
    "networkRef": ("network", "Network"),
    "subnetworkRef": ("subnetwork", "Subnetwork"),
    "clusterRef": ("cluster", "Cluster"),
    "serviceAccountIdRef": ("serviceAccountId", "ServiceAccount"),
}
#: What a load balancer leaves in the cloud: it goes with its Service alone.
BALANCER, FIREWALL = "ForwardingRule", "Firewall"
#: What is switched on in a project, and costs nothing.
_FREE: Final = frozenset({"ProjectService"})


@dataclass
class Thing:
    """Something in the cloud. `until` is the tick at which what is being done to it ends."""

    fields: Mapping[str, Any]
    until: int
    going: bool = False


@dataclass
class Answer:
    """What the provider writes: a status, resolved references, and whether it keeps its finalizer.

    `secret` says that the connection Secret is written.
    """

    status: Manifest
    resolved: Manifest = field(default_factory=dict)
    finalizer: bool = True
    secret: bool = False


def _get(fields: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        fields = fields.get(step) if isinstance(fields, Mapping) else None
    return sorted(fields) if isinstance(fields, list) and all(isinstance(each, str) for each in fields) else fields


class GoogleCloud:
    """One project. `delay` ticks are what it takes to make or delete something; `refuse` says what it does not do."""

    def __init__(self, delay: int = 0, refuse: Refusal = lambda _kind, _name, _fields: None) -> None:
        self.delay, self.refuse = delay, refuse
        self.now = 0
        self.things: dict[Place, Thing] = {}
        #: Node pools whose nodes were made anew, and those of which the cloud chose nodes to delete, as they came.
        self.rolled: list[str] = []
        self.shrunk: list[str] = []

    def tick(self) -> None:
        """Let time pass."""
        self.now += 1
        gone = {place for place, each in self.things.items() if each.going and each.until <= self.now}
        pools = {
            place
            for place, each in self.things.items()
            if place[0] == "NodePool" and ("Cluster", each.fields.get("cluster")) in gone
        }
        for place in gone | pools:
            del self.things[place]

    def bill(self) -> list[Place]:
        """Return everything that is there and costs something, or keeps the project from being as it was."""
        return sorted(place for place in self.things if place[0] not in _FREE)

    def is_up(self, kind: str, name: str) -> bool:
        """Tell whether something is there and nothing is being done to it."""
        found = self.things.get((kind, name))
        return found is not None and not found.going and found.until <= self.now

    def make(self, place: Place, fields: Mapping[str, Any]) -> None:
        """Begin to make something."""
        self.things[place] = Thing(fields, self.now + self.delay)

    def remove(self, place: Place) -> None:
        """Begin to delete something, as a person does in the console."""
        found = self.things.get(place)
        if found is not None and not found.going:
            found.going, found.until = True, self.now + self.delay

    def expose(self, cluster: str, network: str) -> None:
        """Make the load balancer of a cluster's Service, and its firewall rule."""
        for kind in (BALANCER, FIREWALL):
            if (kind, cluster) not in self.things:
                self.make((kind, cluster), {"network": network})

    def unexpose(self, cluster: str) -> bool:
        """Delete a cluster's load balancer, as its controller does for a deleted Service; tell whether it is gone."""
        places = [(kind, cluster) for kind in (BALANCER, FIREWALL) if (kind, cluster) in self.things]
        for place in places:
            self.remove(place)
        return not places

    def users(self, place: Place) -> Iterator[Place]:
        """Yield what has to go before something can go."""
        kind, name = place
        blocking = {
            "Network": ("Subnetwork", FIREWALL, "Cluster"),
            "Subnetwork": ("Cluster",),
        }.get(kind, ())
        for other, each in self.things.items():
            if other[0] in blocking and each.fields.get(kind.lower()) == name:
                yield other


class Provider:
    """A fake of provider-gcp, which remembers nothing: it may be killed after any answer.

    `find` returns a managed resource of a kind by its name, None where there is none.
    """

    def __init__(self, cloud: GoogleCloud, find: Callable[[str, str], Manifest | None]) -> None:
        self._cloud, self._find = cloud, find

    def answer(self, obj: Manifest) -> Answer:
        """Do for a managed resource what is to be done now, and return what is written about it."""
        kind, name = obj["kind"], obj["metadata"]["name"]
        if obj["metadata"].get("deletionTimestamp"):
            return self._delete(obj, (kind, name))
        fields = dict(obj["spec"]["forProvider"])
        resolved = {}
        for reference, (into, target) in REFERENCES.items():
            if reference in fields and into not in fields:
                named = fields[reference]["name"]
                if self._find(target, named) is None or (target, named) not in self._cloud.things:
                    why = f"cannot resolve references: mg.Spec.ForProvider.{into}: referenced field was empty"
                    return Answer(_status(synced=why))
                resolved[into] = named
            fields.pop(reference, None)
        answer = self._apply((kind, name), {**fields, **resolved}, obj["spec"].get("initProvider", {}))
        answer.resolved = resolved
        return answer

    def _delete(self, obj: Manifest, place: Place) -> Answer:
        there = self._cloud.things.get(place)
        if there is None or "Delete" not in obj["spec"]["managementPolicies"]:
            return Answer({}, finalizer=False)
        if users := [f"{kind} {name}" for kind, name in self._cloud.users(place)]:
            why = f"delete failed: googleapi: Error 400: The resource {place[1]} is already being used by {users[0]}"
            return Answer(_status(work=why, ready=False))
        self._cloud.remove(place)
        return Answer(_status(ready=False))

    def _apply(self, place: Place, fields: Mapping[str, Any], first: Manifest) -> Answer:
        cloud, (kind, name) = self._cloud, place
        there = cloud.things.get(place)
        if there is None:
            cluster = str(fields.get("cluster"))
            if kind == "NodePool" and not cloud.is_up("Cluster", cluster):
                return Answer(_status(work=f"googleapi: Error 404: Not found: {cluster}", ready=False))
            if why := cloud.refuse(kind, name, {**first, **fields}):
                return Answer(_status(work=why, ready=False))
            cloud.make(place, fields)
        elif not there.going and there.fields != fields:
            if changed := [path for path in FORCE_NEW.get(kind, ()) if _get(fields, path) != _get(there.fields, path)]:
                path = ".".join(changed[0])
                return Answer(_status(synced=f'refuse to update: cannot change the value of the argument "{path}"'))
            if why := cloud.refuse(kind, name, fields):
                return Answer(_status(work=why))
            if kind == "NodePool":
                self._note(name, there.fields, fields)
            there.fields = fields
        ready = cloud.is_up(kind, name)
        return Answer(_status(ready=ready, there=_report(cloud, place)), secret=ready)

    def _note(self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        if any(_get(before, path) not in (None, _get(after, path)) for path in ROLLING):
            self._cloud.rolled.append(name)
        if "autoscaling" not in after and _most(after) < _most(before):
            # The autoscaler takes away nodes without pods alone.
            self._cloud.shrunk.append(name)


def _most(fields: Mapping[str, Any]) -> int:
    scaling = fields.get("autoscaling") or {}
    return int(scaling.get("totalMaxNodeCount") or fields.get("nodeCount", 0) * len(fields.get("nodeLocations") or "x"))


def _report(cloud: GoogleCloud, place: Place) -> Manifest:
    """Return what the provider reports of GKE: the version that runs."""
    fields = cloud.things[place].fields
    if place[0] == "Cluster":
        return {"id": place[1], "masterVersion": f"{fields['minMasterVersion']}.1-gke.1"}
    if place[0] != "NodePool":
        return {"id": place[1]}
    cluster = cloud.things.get(("Cluster", str(fields.get("cluster"))))
    made_with = f"{cluster.fields['minMasterVersion']}.1-gke.1" if cluster else ""
    return {"id": place[1], "version": fields.get("version") or made_with}


def _status(*, ready: bool = False, synced: str = "", work: str = "", there: Manifest | None = None) -> Manifest:
    """Return a status: `synced` is why the last try failed, `work` why work in the background did."""
    told = (("Ready", "" if ready else "Creating"), ("Synced", synced), ("LastAsyncOperation", work))
    conditions = [
        {
            "type": kind,
            "status": "False" if why else "True",
            "reason": "Available" if kind == "Ready" and not why else "ReconcileError" if why else "ReconcileSuccess",
            **({"message": why} if why and kind != "Ready" else {}),
        }
        for kind, why in told
    ]
    return {"conditions": conditions, **({"atProvider": there} if there else {})}
