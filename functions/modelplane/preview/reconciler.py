"""One pass of one composite, as Crossplane's composite reconciler makes it, over the objects of a store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from modelplane.preview.admission import InvalidObject, admit
from modelplane.preview.composed import CompositionError, observe
from modelplane.preview.composer import Composed, Composer
from modelplane.preview.conditions import Conditions, condition, deleting, failed, ready, responsive, synced
from modelplane.preview.deletion import COMPOSITE_LABEL, Deletions
from modelplane.preview.lookup import lookup
from modelplane.preview.patches import apply_intent
from modelplane.preview.pipeline_run import PipelineRun, run_pipeline
from modelplane.preview.pipelines import Pipeline
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, Tree, child, mapping
from modelplane.step import Severity


@dataclass(frozen=True, slots=True)
class Pass:
    """The result of one pass of a composite.

    `desired` and `deleted` are the composed objects that the pass applied and removed. `run` is the outcome of the
    pipeline. `warnings` are Crossplane's and the pipeline's. `error` is set when the pass failed.
    """

    desired: tuple[Key, ...] = ()
    deleted: tuple[Key, ...] = ()
    run: PipelineRun = field(default_factory=PipelineRun)
    warnings: tuple[str, ...] = ()
    error: str | None = None


class Reconciler:
    """Reconciles composites of a store. `pipeline_of` gives a kind's pipeline, None for one that is left alone."""

    def __init__(
        self,
        store: Store,
        deletions: Deletions,
        pipeline_of: Callable[[str], Pipeline | None],
    ) -> None:
        self._store = store
        self._pipeline_of = pipeline_of
        self._composer = Composer(store, deletions)
        #: The status that a composite's pipeline last wrote, by uid: fields that it leaves out later are removed.
        self._written: dict[str, Manifest] = {}

    def fork(self, store: Store, deletions: Deletions) -> "Reconciler":
        """Return the reconciler of a fork of the store."""
        other = Reconciler(store, deletions, self._pipeline_of)
        other._composer = self._composer.fork(store, deletions)
        other._written = dict(self._written)
        return other

    def reconcile(self, key: Key, view: ManifestStore) -> Pass | None:
        """Make one pass; None for an object that is not there or whose kind has no Composition.

        Required resources are read from `view`; the composite and what it composed are read as they are now.
        """
        composite = self._store.peek(key)
        pipeline = self._pipeline_of(key.kind)
        if composite is None or pipeline is None:
            return None
        if composite["metadata"].get("deletionTimestamp"):
            self._finish_deletion(composite)
            return Pass()
        composite = self._configure(composite, pipeline)
        run = PipelineRun()
        try:
            observed = observe(self._store, composite)
            run = self._run(pipeline, composite, observed, view)
            if run.error is not None:
                return self._fail(composite, run, run.error)
            composed = self._composer.compose(composite, observed, run.desired)
        except CompositionError as error:
            # Crossplane keeps the conditions and events of a fatal result; every other error drops them.
            return self._fail(composite, PipelineRun(fetched=run.fetched, calls=run.calls), str(error))
        return self._conclude(key, run, composed)

    def _configure(self, composite: Manifest, pipeline: Pipeline) -> Manifest:
        """Give a composite the label and the Composition reference that Crossplane writes before it composes."""
        metadata, spec = composite["metadata"], mapping(composite, "spec")
        labels = mapping(metadata, "labels")
        if not labels.get(COMPOSITE_LABEL):
            metadata = {**metadata, "labels": {**labels, COMPOSITE_LABEL: metadata["name"]}}
        machinery = mapping(spec, "crossplane")
        if not machinery.get("compositionRef"):
            spec = {**spec, "crossplane": {**machinery, "compositionRef": {"name": pipeline.composition}}}
        self._store.put({**composite, "metadata": metadata, "spec": spec})
        return self._store.peek(key_of(composite)) or composite

    def _run(
        self, pipeline: Pipeline, composite: Manifest, composed: Mapping[str, Manifest], view: ManifestStore
    ) -> PipelineRun:
        seen = {name: as_object(self._store, obj) for name, obj in composed.items()}
        return run_pipeline(pipeline, as_object(self._store, composite), seen, lookup(view))

    def _fail(self, composite: Manifest, run: PipelineRun, error: str) -> Pass:
        """Record a failed pass: Synced says why, and custom conditions that the pipeline did not set are Unknown."""
        text = f"cannot compose resources: {error}"
        current = self._store.peek(key_of(composite)) or composite
        conditions = self._conditions(current)
        conditions.set_own(responsive(), failed(text))
        conditions.set_unknown(besides=conditions.set_custom(_custom(run)))
        self._store.put({**current, "status": {**mapping(current, "status"), "conditions": conditions.listed()}})
        return Pass(run=run, warnings=(*_warnings(run), text), error=text)

    def _conclude(self, key: Key, run: PipelineRun, composed: Composed) -> Pass:
        """Write the status after a pass that composed: the pipeline's, its conditions, and Crossplane's own."""
        current = self._store.peek(key)
        if current is None:
            return Pass(run=run, desired=composed.desired, deleted=composed.deleted)
        conditions = self._conditions(current)
        conditions.set_own(responsive())
        conditions.set_custom(_custom(run))
        conditions.set_own(synced(composed.unsynced), ready(composed.unready, explicit=run.ready))
        error = None
        try:
            self._write(current, self._status(current, run.status), conditions)
        except InvalidObject as refused:
            # As on a real server: the composed resources are applied, and nothing of the status is.
            error = f"cannot compose resources: cannot apply composite resource status: {refused}"
        return Pass(
            run=run,
            desired=composed.desired,
            deleted=composed.deleted,
            warnings=(*_warnings(run), *composed.warnings, *((error,) if error else ())),
            error=error,
        )

    def _finish_deletion(self, composite: Manifest) -> None:
        conditions = self._conditions(composite)
        conditions.set_own(responsive(), deleting(), synced())
        self._store.put({**composite, "status": {**mapping(composite, "status"), "conditions": conditions.listed()}})

    def _conditions(self, composite: Manifest) -> Conditions:
        present = child(composite, "status", "conditions")
        return Conditions(present, self._store.now, composite["metadata"]["generation"])

    def _status(self, composite: Manifest, status: Manifest) -> Tree:
        """Return the composite's status, conditions left out, after its pipeline applied `status`."""
        uid = composite["metadata"]["uid"]
        intent = {k: v for k, v in status.items() if k != "conditions"}
        before = {k: v for k, v in mapping(composite, "status").items() if k != "conditions"}
        previous, self._written[uid] = self._written.get(uid, before), intent
        return apply_intent(before, intent, previous)

    def _write(self, composite: Manifest, status: Tree, conditions: Conditions) -> None:
        """Write a status, unless it is the one there; raises InvalidObject where the schema does not allow it."""
        wanted = {**composite, "status": {**status, "conditions": conditions.listed()}}
        unchanged = status == {k: v for k, v in mapping(composite, "status").items() if k != "conditions"}
        self._store.put(wanted if unchanged else admit(wanted, composite))


def _custom(run: PipelineRun) -> list[Tree]:
    return [condition(str(c.type), str(c.status), str(c.reason), c.message) for c in run.conditions]


def _warnings(run: PipelineRun) -> tuple[str, ...]:
    return tuple(event.message for event in run.events if event.severity is Severity.WARNING)
