"""Reads the spec of an InferenceCluster: strictly, since all of it is carried out."""

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.model.observation import Malformed
from modelplane.observed.strict import read_strictly
from modelplane.step import Object


def read_spec(cluster: Object) -> InferenceClusterSpec | Malformed:
    """Return the spec of an InferenceCluster; what its XRD would refuse is Malformed, with the field."""
    spec = read_strictly(InferenceClusterSpec, cluster)
    if isinstance(spec, Malformed):
        return spec
    if spec.cluster.source == "Existing" and spec.cluster.existing is None:
        return Malformed("InferenceCluster", cluster.name, "spec.cluster.existing", "is required by source Existing")
    return spec
