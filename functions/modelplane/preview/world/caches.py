"""The staging of weights, while no Composition composes a ModelCache: it is on every cluster that it selects."""

from collections.abc import Iterator

from modelplane.model.names import GROUP
from modelplane.preview.pipelines import pipeline_of
from modelplane.preview.store import View
from modelplane.preview.tree import Manifest, Tree, mapping
from modelplane.preview.world.managed import in_order, played

KIND = f"ModelCache.{GROUP}"
_CLUSTER = f"InferenceCluster.{GROUP}"


def play(view: View) -> Iterator[tuple[str, str | None, str, Manifest]]:
    """Yield a staged cache's status for every ModelCache that nothing composes."""
    if pipeline_of(KIND) is not None:
        return
    for cache in played(view, KIND):
        metadata = cache["metadata"]
        yield KIND, metadata.get("namespace"), metadata["name"], _staged(view, cache)


def _staged(view: View, cache: Manifest) -> Tree:
    wanted = mapping(cache, "spec", "clusterSelector", "matchLabels").items()
    selected = [
        cluster["metadata"]["name"]
        for cluster in view.scan(_CLUSTER)
        if wanted <= mapping(cluster, "metadata", "labels").items()
    ]
    conditions = in_order(cache, ClustersMatched="Matched", ArtifactReady="Staged")
    if not selected:
        conditions = [{**made, "status": "False", "reason": "NoClusters"} for made in conditions]
    return {
        "clusters": [{"name": name, "phase": "Ready"} for name in selected],
        "summary": {"ready": f"{len(selected)}/{len(selected)}"},
        "conditions": conditions,
    }
