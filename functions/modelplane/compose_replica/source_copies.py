"""Copies the Secrets and ConfigMaps that a replica's engines name to its cluster, by reference.

A copy has the name that the engine uses, so all replicas of a team on a cluster share it. The first of them composes
its Object; the others are additional owners of that Object, so that Kubernetes deletes it, and with it the copy, only
when the last of them is gone. A replica that finds the Object without a controller adopts it. The Object is named by
the cluster's uid: replicas of two InferenceClusters that share a cluster share its copies too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.compose_replica.obstacle import Obstacle
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.messages import sentences
from modelplane.composing.site import Site
from modelplane.kube.object import PROVIDER_API
from modelplane.model.conditions import Reason
from modelplane.model.names import API_VERSION, composed_name
from modelplane.model.observation import Gap
from modelplane.observed.fields import controller, deleting, mapping, mappings, text, texts
from modelplane.observed.memo import once_per_version
from modelplane.step import Object, Request, Requirement

#: The most Secrets and ConfigMaps that a replica may name: each is an Object that the provider polls.
SOURCE_LIMIT: Final = 64

_KINDS: Final = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}


@dataclass(frozen=True, slots=True, order=True)
class CopySource:
    """A Secret or ConfigMap of the team."""

    kind: str
    name: str

    @property
    def resource(self) -> str:
        """Return the composition resource name of the source's copy."""
        return f"copy-{self.kind.lower()}-{self.name}"


@dataclass(frozen=True, slots=True)
class Use:
    """How engines use a source: whether it is optional for all, and which engine reads it where, for messages.

    `keys` are the required keys, each with the engine that reads it.
    """

    optional: bool
    by: str
    keys: Mapping[str, str]


#: The ConfigMap that Kubernetes writes into every namespace of a cluster, and would restore over a copy.
_OF_EACH_CLUSTER: Final = CopySource("ConfigMap", "kube-root-ca.crt")


def _named_in(pod: Mapping[str, Any]) -> Iterator[tuple[CopySource, bool, str, str]]:
    """Yield (source, whether it is optional, its purpose, its key if any) for each source that a pod names."""
    for secret in mappings(pod.get("imagePullSecrets")):
        yield CopySource("Secret", text(secret.get("name"))), False, "pulls its image with it", ""
    for container in mappings(pod.get("containers")):
        for row in mappings(container.get("env")):
            for key, kind in _KINDS.items():
                named = mapping(mapping(row.get("valueFrom")).get(key))
                purpose = f"reads it in env {text(row.get('name'))}"
                yield (
                    CopySource(kind, text(named.get("name"))),
                    named.get("optional") is True,
                    purpose,
                    text(named.get("key")),
                )


@once_per_version
def read_sources(replica: Object) -> Mapping[CopySource, Use]:
    """Return the sources that a ModelReplica names, sorted, each with the engines that use it and its first use.

    Engines for which it is optional are listed only if it is optional for all.
    """
    uses: dict[CopySource, dict[bool, dict[str, str]]] = {}
    keys: dict[CopySource, dict[str, str]] = {}
    for engine in mappings(mapping(replica.body.get("spec")).get("engines")):
        for member in mappings(engine.get("members")):
            for source, optional, purpose, key in _named_in(mapping(mapping(member.get("template")).get("spec"))):
                if source == _OF_EACH_CLUSTER:
                    continue
                if source.name:
                    of_source = uses.setdefault(source, {True: {}, False: {}})
                    of_source[optional].setdefault(text(engine.get("name")), purpose)
                if source.name and key and not optional:
                    keys.setdefault(source, {}).setdefault(key, f"engine {text(engine.get('name'))} {purpose}")
    return {source: _use(uses[source], keys.get(source, {})) for source in sorted(uses)}


def _use(purposes: Mapping[bool, Mapping[str, str]], keys: Mapping[str, str]) -> Use:
    """Return the use of a source; `purposes` are by engine, those of engines for which it is optional under True."""
    of_engines = purposes[False] or purposes[True]
    (first, purpose), *others = of_engines.items()
    more = f" (so do {len(others)} more engines)" if others else ""
    if len(others) == 1:
        more = f" (so does engine {others[0][0]})"
    return Use(not purposes[False], f"engine {first} {purpose}{more}", keys)


def _keyless(called: str, found: Object, use: Use) -> str:
    """Return the required keys that a source lacks, and the keys that it has; "" if it lacks none.

    A source without any key is not checked: a preview assumes the sources that it was not given.
    """
    has = sorted(mapping(found.body.get("data")))
    lacks = [(key, by) for key, by in sorted(use.keys.items()) if key not in has] if has else []
    keys = f"keys that it has: {', '.join(has)}"
    return sentences(*(f"{called} has no key {key}; {by}. Add it, or name one of the {keys}" for key, by in lacks))


def _composed(request: Request) -> Iterator[CopySource]:
    """Yield the sources whose copies this replica already composes."""
    for resource, found in request.observed.items():
        if resource.startswith("copy-"):
            manifest = mapping(mapping(mapping(found.body.get("spec")).get("forProvider")).get("manifest"))
            yield CopySource(text(manifest.get("kind")), text(mapping(manifest.get("metadata")).get("name")))


#: What an Object may be named by: the InferenceCluster's name, or the uid of its cluster, each with its requirement's
#: suffix.
_BY_NAME, _BY_UID = "", "-by-uid"


def _copy(source: CopySource, team: str, key: tuple[str, str]) -> Requirement:
    """Return the requirement of the Object that copies a source to the cluster, whichever replica composed it."""
    by, cluster = key
    name = composed_name(f"{source.kind.lower()}-{source.name}", "copy", team, cluster, source.kind, source.name)
    return Requirement(f"{source.resource}{by}", PROVIDER_API, "Object", name, namespace=team)


def _is_own(request: Request, source: CopySource, keys: Sequence[tuple[str, str]]) -> bool:
    """Tell whether this replica should adopt a copy: no other replica controls it."""
    uid = text(request.composite.metadata.get("uid"))
    for key in keys:
        found = request.one(_copy(source, request.composite.namespace, key))
        if found is Gap.NOT_FETCHED:
            return False
        if isinstance(found, Object) and (deleting(found) or controller(found) not in ("", uid)):
            return False
    return True


def _owner(replica: Object) -> dict[str, Any]:
    uid = replica.metadata.get("uid")
    return {"apiVersion": API_VERSION, "kind": "ModelReplica", "name": replica.name, "uid": uid}


@dataclass(frozen=True, slots=True)
class SourceCopies:
    """The copies of one pass on a cluster.

    `clusters` are the InferenceClusters that reach it. `keys` are what its Objects may be named by: its uid once that
    is published, and the InferenceCluster's name, as before uids were. `wanted` are the sources that the replica names.
    `own` are the sources, sorted, whose copies this replica composes: some of those that it names, and those that it
    composed before and others may use.
    """

    request: Request
    clusters: frozenset[str]
    keys: tuple[tuple[str, str], ...]
    wanted: Mapping[CopySource, Use]
    own: tuple[CopySource, ...]

    @classmethod
    def of(cls, request: Request, cluster: str) -> "SourceCopies":
        """Return the copies of the request's replica on its cluster."""
        wanted, composed = read_sources(request.composite), frozenset(_composed(request))
        found = request.one(require.cluster(cluster))
        status = mapping(found.body.get("status")) if isinstance(found, Object) else {}
        uid = text(status.get("clusterUID"))
        keys = (*([(_BY_UID, uid)] if uid else ()), (_BY_NAME, cluster))
        others = (source for source in wanted if source not in composed and _is_own(request, source, keys))
        clusters = frozenset({cluster, *texts(status.get("sharedWith"))})
        return cls(request, clusters, keys, wanted, tuple(sorted({*composed, *others})))

    @property
    def _team(self) -> str:
        return self.request.composite.namespace

    def _original(self, source: CopySource) -> Object | Gap:
        return self.request.one(require.source(source.kind, source.name, self._team))

    @property
    def _too_many(self) -> bool:
        return len(self.wanted) > SOURCE_LIMIT

    def requirements(self) -> tuple[Requirement, ...]:
        """Return the requirements; none if the engines name no source, or too many in total.

        The other users of a copy are required only by the replica that composes it.
        """
        if self._too_many or not (self.wanted or self.own):
            return ()
        sources = sorted({*self.wanted, *self.own})
        originals = [require.source(source.kind, source.name, self._team) for source in sources]
        copies = [_copy(source, self._team, key) for source in self.wanted for key in self.keys]
        return *originals, *copies, *([require.team_replicas(self._team)] if self.own else [])

    def obstacle(self) -> Obstacle | None:
        """Return the obstacle to composing the replica: too many sources, or a missing one."""
        if self._too_many:
            message = f"the engines name {len(self.wanted)} Secrets and ConfigMaps, at most {SOURCE_LIMIT} are copied"
            return Obstacle(Reason.INVALID_ENGINE, sentences(message, "Put several keys into one."))
        missing = [message for source in sorted({*self.wanted, *self.own}) if (message := self._missing(source))]
        if not missing and self.own and isinstance(self.request.all(require.team_replicas(self._team)), Gap):
            missing = [f"the ModelReplicas of namespace {self._team} are not fetched yet"]
        return Obstacle(Reason.DEPLOYING, sentences(*missing)) if missing else None

    def _missing(self, source: CopySource) -> str:
        """Return that a required source does not exist, "" otherwise."""
        found, use = self._original(source), self.wanted.get(source)
        called = f"{source.kind} {self._team}/{source.name}"
        if found is Gap.NOT_FETCHED:
            return f"{called} is not fetched yet"
        if found is Gap.ABSENT and use and not use.optional:
            return sentences(f"{called} does not exist; {use.by}", "Create it.")
        return _keyless(called, found, use) if isinstance(found, Object) and use else ""

    def _neighbours(self) -> list[tuple[Object, Mapping[CopySource, Use]]]:
        """Return the team's other replicas on the cluster by name, each with the sources that it names."""
        uid, fetched = self.request.composite.metadata.get("uid"), self.request.all(require.team_replicas(self._team))
        there = (
            each
            for each in (() if isinstance(fetched, Gap) else fetched)
            if text(mapping(each.body.get("spec")).get("clusterName")) in self.clusters
            if each.metadata.get("uid") != uid and not deleting(each)
        )
        return [(each, read_sources(each)) for each in sorted(there, key=lambda each: each.name)]

    def _name(self, source: CopySource) -> str:
        """Return the name of a source's Object: that of the existing one, else by the first key."""
        copies = [_copy(source, self._team, key) for key in self.keys]
        there = [self.request.observed.get(source.resource), *map(self.request.one, copies)]
        existing = next((each.name for each in there if isinstance(each, Object)), None)
        return existing or copies[0].match_name or ""

    def objects(self, site: Site) -> dict[str, Mapping[str, Any]]:
        """Return the Objects of the replica's own copies by composition resource name, while there is no obstacle.

        They copy the sources that its engines name, and those that other replicas still use.
        """
        objects: dict[str, Mapping[str, Any]] = {}
        neighbours = self._neighbours() if self.own else []
        for source in self.own:
            original, users = self._original(source), [each for each, named in neighbours if source in named]
            if source not in self.wanted and not users:
                continue
            if isinstance(original, Object):
                owners = [_owner(user) for user in users]
                objects[source.resource] = site.place_copy(original.body, self._name(source), owners)
            elif source.resource in self.request.observed:
                objects[source.resource] = held(self.request.observed[source.resource].body)
        return objects
