"""The function compose-cluster: the fleet's hardware classes and clusters, and what they publish."""

from collections.abc import Mapping

from modelplane.compose_cluster import (
    cluster_model,
    inference_class,
    inference_cluster,
    managed_cluster,
    serving_stack,
)
from modelplane.compose_cluster.public import inference_gateway
from modelplane.step import Step

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {
    "ClusterModel": cluster_model.compose,
    "InferenceClass": inference_class.compose,
    "InferenceCluster": inference_cluster.compose,
    "InferenceGateway": inference_gateway.compose,
    "ManagedCluster": managed_cluster.compose,
    "ServingStack": serving_stack.compose,
}
