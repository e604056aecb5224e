"""Reads the spec of an InferenceCluster: strictly, since all of it is carried out."""

from pydantic import ValidationError

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.model.observation import Malformed
from modelplane.runtime.step import Object


def read_spec(cluster: Object) -> InferenceClusterSpec | Malformed:
    """Return the spec of an InferenceCluster; what its XRD would refuse is Malformed, with the field."""
    try:
        spec = InferenceClusterSpec.model_validate(cluster.body.get("spec"), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Malformed("InferenceCluster", cluster.name, ".".join(["spec", *map(str, first["loc"])]), first["msg"])
    if spec.cluster.source == "Existing" and spec.cluster.existing is None:
        return Malformed("InferenceCluster", cluster.name, "spec.cluster.existing", "is required by source Existing")
    return spec
