"""Random histories of a cache, the replicas that mount it, and fakes of the clusters that it is staged on."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from modelplane.preview import ControlPlane, healthy
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.preview.store import View
from unit.compose_cache import caches
from unit.compose_replica import replicas

Manifest = dict[str, Any]
Answer = tuple[str, str | None, str, Mapping[str, Any]]

CLUSTERS = ("eu", "us")
#: Replicas and their clusters: two of one deployment side by side, and one that was written by hand.
REPLICAS = {"a": "eu", "b": "eu", "c": "us"}
REVISIONS = ("main", "v2", "v3")
_OBJECT = "Object.kubernetes.m.crossplane.io"
_CACHE, _REPLICA = ("ModelCache", "team", "weights"), "ModelReplica"


def _pipelines(kind: str) -> Pipeline | None:
    return pipeline_of(kind) if kind in {"ModelCache.modelplane.ai", "ModelReplica.modelplane.ai"} else None


@dataclass
class FakeClusters:
    """Fakes of clusters, as a world of the preview: what became of claims and Jobs is decided from outside.

    A claim is known by its cluster, its name and its uid, which another one that was made later does not share.
    `whole` are the claims onto which a Job has brought everything.
    """

    away: set[str] = field(default_factory=set)
    phases: dict[str, str] = field(default_factory=dict)
    jobs: dict[tuple[str, str], str] = field(default_factory=dict)
    uids: dict[tuple[str, str], str] = field(default_factory=dict)
    whole: set[tuple[str, str, str]] = field(default_factory=set)
    made: int = 0

    def __call__(self, view: View) -> Iterator[Answer]:
        """Tell of every Object how it stands on its cluster."""
        objects = [obj for obj in view.scan(_OBJECT) if not obj["metadata"].get("deletionTimestamp")]
        there = [(*_there(obj), obj) for obj in objects]
        self._forget({(cluster, name) for cluster, kind, name, _ in there if kind == "PersistentVolumeClaim"})
        self.jobs = {(c, name): self.jobs.get((c, name), "active") for c, kind, name, _ in there if kind == "Job"}
        for patch in healthy(view):
            if patch[0] != _OBJECT:
                yield patch
        for cluster, kind, name, obj in there:
            yield _OBJECT, obj["metadata"]["namespace"], obj["metadata"]["name"], self._answer(cluster, kind, name, obj)

    def _forget(self, claims: set[tuple[str, str]]) -> None:
        """Lose the claims that are no longer there, and make those that are new."""
        self.uids = {claim: uid for claim, uid in self.uids.items() if claim in claims}
        for claim in sorted(claims - self.uids.keys()):
            self.remake(claim)

    def remake(self, claim: tuple[str, str]) -> None:
        """Put an empty claim in the place of one."""
        self.made += 1
        self.uids[claim] = f"uid-{self.made}"

    def _answer(self, cluster: str, kind: str, name: str, obj: Mapping[str, Any]) -> Manifest:
        if cluster in self.away:
            return {"conditions": [_condition("Synced", "False"), _condition("Ready")]}
        manifest = deepcopy(dict(obj["spec"]["forProvider"]["manifest"]))
        manifest["metadata"]["generation"] = 1
        if kind == "PersistentVolumeClaim":
            manifest["metadata"]["uid"] = self.uids[cluster, name]
            capacity = manifest["spec"]["resources"]["requests"]
            manifest["status"] = {"phase": self.phases.get(cluster, "Bound"), "capacity": capacity}
        if kind == "Job":
            ended = {"active": {"active": 1}, "Failed": caches.ended("Failed"), "Complete": caches.ended("Complete")}
            manifest["status"] = ended[self.jobs[cluster, name]]
        if kind == "Deployment":
            manifest["status"] = replicas.serving_status(1)
        return {"conditions": [_condition("Synced"), _condition("Ready")], "atProvider": {"manifest": manifest}}

    def expire(self, cluster: str) -> None:
        """Let the hour pass after which Kubernetes removes a Job that has failed: its provider makes it anew."""
        for job, how in self.jobs.items():
            if (job[0], how) == (cluster, "Failed"):
                self.jobs[job] = "active"

    def end_jobs(self, cluster: str, how: str, view: View) -> None:
        """Let the Jobs that run on a cluster end; one that succeeds has filled the claim that it was made for."""
        for obj in view.scan(_OBJECT):
            where, kind, name = _there(obj)
            if (where, kind) != (cluster, "Job") or self.jobs.get((cluster, name)) != "active":
                continue
            self.jobs[cluster, name] = how
            job = obj["spec"]["forProvider"]["manifest"]
            (volume,) = job["spec"]["template"]["spec"]["volumes"]
            claim = volume["persistentVolumeClaim"]["claimName"]
            if how == "Complete":
                self.whole.add((cluster, claim, job["metadata"]["labels"]["modelplane.ai/fills"]))


def _condition(kind: str, status: str = "True") -> Manifest:
    return {"type": kind, "status": status, "message": "as drawn", "lastTransitionTime": caches.SEEN_AT}


def _there(obj: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return cluster, kind and name of what an Object stands for."""
    manifest = obj["spec"]["forProvider"]["manifest"]
    return obj["spec"]["providerConfigRef"]["name"], manifest["kind"], manifest["metadata"]["name"]


def _cluster(name: str, **status: Any) -> Manifest:
    body = caches.cluster(name, labels={"region": name})
    body["spec"] = {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}}
    return {**body, "status": {**body["status"], **status}}


def _replica(name: str, uses: str = "weights") -> Manifest:
    body = replicas.replica()
    labels = {"modelplane.ai/cluster": REPLICAS[name]} | ({} if name == "c" else {"modelplane.ai/deployment": "chat"})
    body["metadata"] = {"name": name, "namespace": "team", "labels": labels}
    body["spec"] |= {"clusterName": REPLICAS[name]} | ({"modelCacheRef": {"name": uses}} if uses else {})
    return body


class History:
    """A cache, its replicas and clusters, to which things happen."""

    def __init__(self) -> None:
        self.clusters = FakeClusters()
        objects = [*map(_cluster, CLUSTERS), caches.secret(), caches.cache(), *map(_replica, REPLICAS)]
        self.control = ControlPlane(objects, self.clusters, _pipelines)
        self.before = self.control.view()

    def serve(self) -> None:
        """Come to where all replicas serve from the staged cache."""
        for _ in range(2):
            self.control.settle()
            for cluster in CLUSTERS:
                self.clusters.end_jobs(cluster, "Complete", self.control.view())
            self.reconcile("cache", "fresh")
        self.control.settle()

    def reconcile(self, which: str, seen: str) -> None:
        """Make a pass of the cache or a replica; with what was there one step ago when it is not `fresh`."""
        view, self.before = self.before, self.control.view()
        key = _CACHE if which == "cache" else (_REPLICA, "team", which)
        self.control.reconcile(*key, view=None if seen == "fresh" else view)

    def edit(self, field_: str, value: Any) -> None:
        """Set a field of the cache's source, or take it away (None)."""
        if (body := self.control.get(*_CACHE)) is not None:
            source = {name: found for name, found in body["spec"]["huggingFace"].items() if name != field_}
            body["spec"]["huggingFace"] = source | ({field_: value} if value else {})
            self.control.apply(body)

    def select(self, region: str) -> None:
        """Let the cache select one region, or all ("")."""
        if (body := self.control.get(*_CACHE)) is not None:
            body["spec"].pop("clusterSelector", None)
            body["spec"] |= {"clusterSelector": {"matchLabels": {"region": region}}} if region else {}
            self.control.apply(body)

    def delete_cache(self) -> None:
        """Delete the cache: refused while a replica uses it."""
        self.control.delete(*_CACHE)

    def restore_cache(self) -> None:
        """Write the cache again if it is gone."""
        if self.control.get(*_CACHE) is None:
            self.control.apply(caches.cache())

    def use(self, replica: str, cache: str) -> None:
        """Let a replica, or all of them, use another cache, or none ("")."""
        for name in REPLICAS if replica == "all" else (replica,):
            self.control.apply(_replica(name, cache))

    def secret(self, version: str) -> None:
        """Put another token into the Secret, or delete it ("")."""
        if version:
            self.control.apply(
                {**caches.secret(), "metadata": {**caches.secret()["metadata"], "labels": {"v": version}}}
            )
        else:
            self.control.delete("Secret", "team", "hub")

    def tell(self, cluster: str, status: Mapping[str, Any] | None) -> None:
        """Let an InferenceCluster publish something else."""
        if self.control.get("InferenceCluster", None, cluster) is not None:
            self.control.patch_status("InferenceCluster", None, cluster, status or {})

    def mend(self, cluster: str) -> None:
        """Let a cluster answer and publish everything again, and try again what has failed."""
        self.clusters.away.discard(cluster)
        self.clusters.expire(cluster)
        self.clusters.phases.pop(cluster, None)
        self.give_up(cluster, "false")
        self.tell(cluster, _cluster(cluster)["status"])

    def give_up(self, cluster: str, word: str) -> None:
        """Give a cluster up ("true"), or not any more."""
        if (body := self.control.get("InferenceCluster", None, cluster)) is not None:
            body["metadata"]["annotations"] = {"modelplane.ai/abandon": word}
            self.control.apply(body)

    def delete_cluster(self, cluster: str) -> None:
        """Ask for the deletion of a cluster: it stays while something needs it."""
        self.control.delete("InferenceCluster", None, cluster)

    def lose(self, cluster: str) -> None:
        """Let every claim of a cluster be made anew, empty."""
        for claim in sorted(self.clusters.uids):
            if claim[0] == cluster:
                self.clusters.remake(claim)

    def phase(self, cluster: str, phase: str) -> None:
        """Let the claims of a cluster be in a phase."""
        self.clusters.phases[cluster] = phase

    def end_jobs(self, cluster: str, how: str) -> None:
        """Let the Jobs of a cluster end."""
        self.clusters.end_jobs(cluster, how, self.control.view())

    def go_away(self, cluster: str) -> None:
        """Let a cluster answer no more."""
        self.clusters.away.add(cluster)

    def settle(self) -> None:
        """Reconcile everything until nothing changes."""
        self.control.settle()

    def published(self) -> set[tuple[str, str, str]]:
        """Return the claims that the cache says are staged."""
        rows = ((self.control.get(*_CACHE) or {}).get("status") or {}).get("clusters", [])
        return {(row["name"], row["volume"]["name"], row["volume"]["uid"]) for row in rows if "volume" in row}

    def mounts(self) -> dict[str, tuple[str, str]]:
        """Return the claim that each workload mounts, as cluster and name, by the name of its replica."""
        found = {}
        for obj in self.control.list(_OBJECT):
            cluster, kind, _ = _there(obj)
            if kind == "Deployment" and not obj["metadata"].get("deletionTimestamp"):
                volumes = obj["spec"]["forProvider"]["manifest"]["spec"]["template"]["spec"]["volumes"]
                claims = [each["persistentVolumeClaim"] for each in volumes if "persistentVolumeClaim" in each]
                (owner,) = [ref["name"] for ref in obj["metadata"]["ownerReferences"] if ref["kind"] == _REPLICA]
                for claim in claims:
                    found[owner] = (cluster, claim["claimName"])
        return found

    def serving(self) -> dict[str, tuple[str, str]]:
        """Return of these mounts those whose replica serves."""
        ready = set()
        for replica in self.control.list(_REPLICA):
            conditions = replica.get("status", {}).get("conditions", ())
            if any((each["type"], each["status"]) == ("ModelReady", "True") for each in conditions):
                ready.add(replica["metadata"]["name"])
        return {name: claim for name, claim in self.mounts().items() if name in ready}

    def volumes(self) -> set[tuple[str, str]]:
        """Return the claims that are kept, as cluster and name."""
        kept = [obj for obj in self.control.list(_OBJECT) if not obj["metadata"].get("deletionTimestamp")]
        return {(cluster, name) for cluster, kind, name in map(_there, kept) if kind == "PersistentVolumeClaim"}


Step = tuple[str, tuple[Any, ...]]
_CLUSTER = st.sampled_from(CLUSTERS)
_STATUSES = st.sampled_from(({"providerConfigRef": None}, {"cache": None}, {"cache": {"storageClassName": "other"}}))


def _step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(name), st.tuples(*arguments))


#: One thing that happens. A pass comes often, or the rest would only pile up.
STEPS: st.SearchStrategy[Step] = st.one_of(
    *[_step("reconcile", st.sampled_from(("cache", *REPLICAS)), st.sampled_from(("fresh", "stale")))] * 6,
    _step("edit", st.just("revision"), st.sampled_from(REVISIONS)),
    _step("edit", st.just("sizeGiB"), st.sampled_from((20, 40, 80))),
    _step("edit", st.just("authSecret"), st.sampled_from((None, caches.SECRET))),
    _step("select", st.sampled_from(("", "eu", "us", "nowhere"))),
    _step("delete_cache"),
    _step("restore_cache"),
    _step("use", st.sampled_from((*REPLICAS, "all")), st.sampled_from(("", "weights", "other"))),
    _step("secret", st.sampled_from(("", "1", "2"))),
    _step("tell", _CLUSTER, _STATUSES),
    _step("mend", _CLUSTER),
    _step("give_up", _CLUSTER, st.sampled_from(("true", "false"))),
    _step("delete_cluster", _CLUSTER),
    _step("lose", _CLUSTER),
    _step("phase", _CLUSTER, st.sampled_from(("Pending", "Bound", "Lost"))),
    *[_step("end_jobs", _CLUSTER, st.sampled_from(("Complete", "Failed")))] * 2,
    _step("go_away", _CLUSTER),
    _step("settle"),
)


def carry_out(history: History, step: Step) -> None:
    """Let one thing happen."""
    name, arguments = step
    happening: Callable[..., None] = getattr(history, name)
    happening(*arguments)
