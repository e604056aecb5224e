"""Fleets with hardly enough room, edits of them, and what passes in any order make of an edit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from given.manifests import cluster, deployment, hardware
from modelplane.planning import Apply, Delete, Drain, Edit, Scale
from modelplane.planning.edits import make
from modelplane.preview import ControlPlane, View
from modelplane.preview.control_plane import ORDER
from modelplane.preview.worlds import World, healthy, slow
from property.strategies import Draw

CLUSTERS = ("east", "north", "west")
Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Edited:
    """The manifests of a fleet, and edits of it."""

    fleet: tuple[Manifest, ...]
    edits: tuple[Edit, ...]


@st.composite
def _deployment(draw: st.DrawFn, name: str) -> Manifest:
    found = deployment(name, replicas=draw(st.integers(1, 3)), gpus=draw(st.sampled_from([2, 4, 8])))
    only = draw(st.sampled_from([None, None, *CLUSTERS]))
    if only:
        found["spec"]["clusterSelector"] = {"matchLabels": {"name": only}}
    return found


def _edits(deployments: Sequence[Manifest]) -> st.SearchStrategy[Edit]:
    names = st.sampled_from([each["metadata"]["name"] for each in deployments])
    newcomers = _deployment("newcomer").map(Apply)
    images = st.sampled_from(deployments).map(lambda each: Apply(_with_image(each, "example.org/engine:v2")))
    scales = st.builds(Scale, st.just("team"), names, st.integers(0, 4))
    deletes = st.builds(Delete, st.just("ModelDeployment"), st.just("team"), names)
    return st.one_of(st.builds(Drain, st.sampled_from(CLUSTERS)), scales, newcomers, images, deletes)


def _with_image(manifest: Manifest, image: str) -> Manifest:
    (engine,) = manifest["spec"]["engines"]
    (member,) = engine["members"]
    template = {"spec": {"containers": [{"name": "engine", "image": image}]}}
    return {
        **manifest,
        "spec": {**manifest["spec"], "engines": [{**engine, "members": [{**member, "template": template}]}]},
    }


@st.composite
def edited(draw: st.DrawFn) -> Edited:
    """Return three clusters with up to six deployments, and one or two edits."""
    clusters = [cluster(name, nodes=draw(st.integers(1, 2))) for name in CLUSTERS]
    for each in clusters:
        each["metadata"]["labels"] = {"name": each["metadata"]["name"]}
    deployments = [draw(_deployment(f"d{number}")) for number in range(draw(st.integers(1, 6)))]
    edits = draw(st.lists(_edits(deployments), min_size=1, max_size=2, unique_by=_about))
    return Edited((hardware(), *clusters, *deployments), tuple(edits))


def _about(edit: Edit) -> str:
    return edit.manifest["metadata"]["name"] if isinstance(edit, Apply) else getattr(edit, "name", "a drain")


def worlds(draw: Draw) -> World:
    """Return a world in which what is new starts at once, or late."""
    return draw(st.sampled_from([0, 1, 4]).map(lambda passes: slow(passes) if passes else healthy))


def live(
    draw: Draw, start: ControlPlane, edits: Sequence[Edit], world: World, then: World | None = None
) -> ControlPlane:
    """Return what becomes of edits when composites pass in any order, some by a view that is a moment old.

    `then` is the world at the end, if it is another one.
    """
    control = start.fork(world)
    make(control, edits)
    for _ in range(draw(st.integers(1, 4))):
        old = control.view()
        due = [(kind, obj) for kind in ORDER for obj in control.list(kind)]
        for kind, obj in draw(st.permutations(due)):
            view: View | None = old if kind.startswith("ModelDeployment") and draw(st.booleans()) else None
            control.reconcile(kind, obj["metadata"].get("namespace"), obj["metadata"]["name"], view)
    control.world = then or world
    assert control.settle(80)
    return control
