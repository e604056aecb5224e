"""An offline control plane: the production steps over dicts in memory, to a fixed point."""

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from modelplane.model.names import GROUP
from modelplane.preview.admission import InvalidObject
from modelplane.preview.deletion import Deletions, Finalizers
from modelplane.preview.intake import read_object
from modelplane.preview.passes import UNKNOWN, LastPasses
from modelplane.preview.patches import merge_patch
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.preview.reconciler import Pass, Reconciler
from modelplane.preview.simulation.downloads import download_pods
from modelplane.preview.simulation.pods import observe_pods
from modelplane.preview.store import Store, View
from modelplane.preview.worlds import World, healthy
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.manifest_store import Trees
from modelplane.reading.tree import Manifest, Tree
from modelplane.reading.unread import Unread

_DEPLOYMENT = f"ModelDeployment.{GROUP}"
#: The order of a round: what others read comes first, so that few rounds are needed.
ORDER = (
    f"InferenceClass.{GROUP}",
    f"ClusterModel.{GROUP}",
    f"InferenceCluster.{GROUP}",
    f"ManagedCluster.{GROUP}",
    f"ServingStack.{GROUP}",
    f"InferenceGateway.{GROUP}",
    f"ModelCache.{GROUP}",
    _DEPLOYMENT,
    f"ModelReplica.{GROUP}",
    f"ModelEndpoint.{GROUP}",
    f"ModelService.{GROUP}",
)


class ControlPlane:
    """Objects, and the reconciler that acts on them as Crossplane would.

    `world` returns, after each pass, the statuses that providers, clusters and gateways would write; with None there
    are none. `pipelines` returns the pipeline of a kind (`Kind.group`), None for a kind that is not reconciled. Methods
    take a kind as `Kind` or `Kind.group`.
    """

    def __init__(
        self,
        objects: Iterable[Any] = (),
        world: World | None = healthy,
        pipelines: Callable[[str], Pipeline | None] = pipeline_of,
    ) -> None:
        self._store = Store()
        self._pipelines = pipelines
        self.world = world
        self._deletions = Deletions(self._store)
        self._reconciler = Reconciler(self._store, self._deletions, pipelines)
        self._last = LastPasses(self._store)
        #: Rounds that the last `settle` took.
        self.passes = 0
        #: The error of each composite whose last pass failed.
        self.errors: dict[Key, str] = {}
        for obj in objects:
            self.apply(obj)

    def fork(self, world: World | None) -> "ControlPlane":
        """Return a control plane with the same objects and history in another world; neither changes the other."""
        other = ControlPlane(pipelines=self._pipelines)
        other._store = self._store.fork()
        other._deletions = self._deletions.fork(other._store)
        other._reconciler = self._reconciler.fork(other._store, other._deletions)
        other._last = self._last.fork(other._store)
        other.errors, other.world = dict(self.errors), world
        return other

    @property
    def world(self) -> World | None:
        """The world that answers after each pass; it may be replaced by assignment."""
        return self._world

    @world.setter
    def world(self, world: World | None) -> None:
        self._world = world
        self._store.extra_kinds = frozenset(getattr(world, "kinds", ()))

    def apply(self, obj: Any) -> Key:
        """Create or replace an object, and return its identity; raises InvalidObject where a server would refuse it.

        A given uid, creationTimestamp and status are kept; fields of the status that are not given stay unchanged.
        """
        made = read_object(obj, self._store)
        key = key_of(made)
        old = self._store.peek(key)
        # A status that is applied exactly as it was read does not count as given.
        as_read = old is not None and key not in self._store.pinned and made.get("status") == old.get("status")
        stored = self._store.write(made)
        if obj.get("status") and not as_read and key.kind != _DEPLOYMENT:
            self._store.pinned.add(key)
        self._store.record_export(stored, has_status=bool(obj.get("status")) and not as_read)
        if stored["metadata"].get("deletionTimestamp") and stored["metadata"].get("finalizers"):
            self._deletions.track(key)
        self._deletions.sweep()
        return key

    def delete(self, kind: str, namespace: str | None, name: str, *, foreground: bool = False) -> bool:
        """Delete an object and what it owns, in the background; False when it is not there or a Usage refuses it.

        While a finalizer or a reference of a provider-kubernetes Object holds it, it stays with a deletionTimestamp.
        `foreground`: it also stays until what it owns is gone.
        """
        key = self._store.locate(kind, namespace, name)
        return key is not None and self._deletions.delete(key, foreground=foreground)

    def hold_by(self, finalizers: Finalizers) -> None:
        """Let other finalizers hold objects that are deleted than those that they have."""
        self._deletions.hold_by(finalizers)

    def patch_status(self, kind: str, namespace: str | None, name: str, status: Manifest) -> None:
        """Change an object's status by a JSON merge patch (RFC 7386); raises InvalidObject when there is no object."""
        key = self._store.locate(kind, namespace, name)
        old = None if key is None else self._store.peek(key)
        if key is None or old is None:
            absent: Tree = {"kind": kind, "metadata": {"namespace": namespace, "name": name}}
            raise InvalidObject(absent, "metadata.name", "there is no such object")
        self._store.write({**old, "status": merge_patch(old.get("status"), status)})
        if self._pipelines(key.kind) is None:
            self._store.pinned.add(key)

    def get(self, kind: str, namespace: str | None, name: str) -> Tree | None:
        """Return a deep copy of an object, None when there is none."""
        return self._store.get(kind, namespace, name)

    def list(self, kind: str) -> Trees:
        """Return deep copies of all objects of a kind, sorted by namespace and name."""
        return self._store.list(kind)

    def everything(self) -> Trees:
        """Return deep copies of all objects, sorted by kind, namespace and name."""
        return [dict(obj) for kind in self._store.kinds() for obj in self._store.list(kind)]

    def missing(self, kind: str) -> Sequence[Key]:
        """Return the objects of a kind (`Kind.group`) that a pass has required by name and that do not exist."""
        return sorted(key for key in self._store.sought if key.kind == kind and self._store.peek(key) is None)

    def unread(self) -> Sequence[Unread]:
        """Return what is known of ModelReplicas that are not in an export, by the name of their cluster."""
        return [each for _, each in sorted(self._store.unread.items())]

    @property
    def writes(self) -> int:
        """Return how many objects were written or removed so far."""
        return self._store.writes

    def written_since(self, writes: int) -> dict[Key, Manifest | None]:
        """Return what was written (None: removed) since there were so many writes; it must not be changed."""
        return {key: self._store.peek(key) for key in self._store.written_since(writes)}

    def view(self) -> View:
        """Return an immutable snapshot of everything, to read from or to reconcile by."""
        return self._store.view()

    def reconcile(self, kind: str, namespace: str | None, name: str, view: View | None = None) -> Pass | None:
        """Make one pass of one composite, then let the world answer; None when there is nothing to reconcile.

        Required resources are read from `view` (default: now); the composite and what it composed, as they are now.
        """
        key = self._store.locate(kind, namespace, name)
        if key is None:
            return None
        done = self._pass(key, view)
        self._simulate()
        return done

    def pass_alone(self, key: Key) -> None:
        """Make one pass of one composite; the world does not answer yet."""
        self._pass(key, None)

    def settle(self, max_passes: int = 50) -> bool:
        """Reconcile round by round until a round changes nothing; False when `max_passes` rounds did not get there."""
        for self.passes in range(1, max_passes + 1):
            before = self.revision
            self.reconcile_due(ORDER)
            self.answer()
            if self.revision == before:
                return True
        return False

    @property
    def revision(self) -> int:
        """Return the revision of the objects: equal revisions of forks, equal objects."""
        return self._store.revision

    def due(self, key: Key) -> bool:
        """Tell whether another pass of a composite may have another outcome than its last."""
        return self._last.due(key)

    def reconcile_due(self, kinds: Iterable[str], besides: Container[Key] = ()) -> None:
        """Make a pass of each composite of these kinds (`Kind.group`) that is due, the oldest first."""
        for kind in kinds:
            for key in self._composites(kind):
                if key not in besides and self._last.due(key):
                    self._pass(key, None)

    def answer(self) -> None:
        """Let the world answer."""
        self._simulate()

    def _pass(self, key: Key, view: View | None) -> Pass | None:
        own, began = self._last.own(key), self._store.revision
        done = self._reconciler.reconcile(key, view or self._store)
        self._last.record(key, own, done, UNKNOWN if view else began)
        self.errors.pop(key, None)
        if done is not None and done.error is not None:
            self.errors[key] = done.error
        return done

    def _simulate(self) -> None:
        """Write the statuses that the world answers with."""
        if self._world is None:
            return
        for kind, namespace, name, status in self._world(self._store.view()):
            key = self._store.locate(kind, namespace, name)
            old = None if key is None else self._store.peek(key)
            if key is None or old is None:
                continue
            changed = self._store.put({**old, "status": merge_patch(old.get("status"), status)})
            if changed and self._pipelines(key.kind) is None:
                # The given status has changed: from now on the world answers for the object.
                self._store.pinned.discard(key)
        view = self._store.view()
        pods = getattr(self._world, "pods", lambda _: ())
        observe_pods(self._store, self._deletions, (*pods(view), *download_pods(view)))
        self._deletions.sweep()

    def _composites(self, kind: str) -> Iterable[Key]:
        found = sorted((obj["metadata"]["creationTimestamp"], key_of(obj)) for obj in self._store.scan(kind))
        return [key for _, key in found] if found and self._pipelines(kind) else ()
