"""What a platform team may give that cannot work: a message with the field and the remedy, and nothing changes.

Settings of the installation and values of charts are in `tests/unit/stack/test_settings.py`, parts that are Present and
absent and an old Kubernetes in `test_serving_stack.py`, two InferenceClusters of one cluster in `test_identity.py`.
"""

from typing import Any

import pytest

from modelplane.preview.admission import InvalidObject, admit
from unit.compose_cluster import clusters as given
from unit.compose_cluster.public.gateways import decided, serving

EXEC = (
    'cannot get object: Get "https://10.0.0.1/api/v1/namespaces/kube-system": getting credentials: exec: executable '
    "aws not found"
)
UNASSIGNED = {"type": "Programmed", "status": "False", "reason": "AddressNotAssigned", "message": "No addresses"}


def test_a_kubeconfig_that_runs_a_command_is_named_with_what_to_put_into_it() -> None:
    before = given.reached()
    silent = given.looking("Namespace", {}, EXEC)
    result = given.run(given.cluster(), {**before, "kube-system": silent})
    found = given.condition(result, "ClusterReady")
    assert (found.status, found.reason) == ("False", "Unreachable")
    assert found.message.endswith(
        "Key kubeconfig of Secret modelplane-system/eu-1, its kubeconfig, gets its credentials by a command (exec), "
        "which no provider runs. Put the token of a ServiceAccount or a client certificate into it, or name a cloud "
        "identity in spec.cluster.existing.identitySecretRef."
    )
    assert before.keys() <= result.desired.keys()
    assert given.status(result)["gpuPools"], "what serves there is still counted"


@pytest.mark.parametrize("error", ["dial tcp 10.0.0.1:443: i/o timeout", "Unauthorized"])
def test_a_cluster_that_does_not_answer_for_another_cause_has_another_remedy(error: str) -> None:
    silent = given.looking("Namespace", {}, error)
    result = given.run(given.cluster(), given.reached(**{"kube-system": silent}))
    assert "exec" not in given.condition(result, "ClusterReady").message


def test_a_cluster_without_load_balancers_is_named_once_its_gateway_waits_for_an_address() -> None:
    waiting = given.looking("Gateway", {"status": {"conditions": [UNASSIGNED]}})
    found = given.condition(given.run(given.cluster(), given.reached(gateway=waiting)), "BackendReady")
    assert (found.status, found.message) == (
        "False",
        "Gateway modelplane-system/inference-gateway: No addresses. If this stays, the cluster gives no address to "
        "Services of type LoadBalancer: install what does, such as MetalLB or the controller of its cloud.",
    )
    refused = {**UNASSIGNED, "reason": "Invalid", "message": "no listener"}
    waiting = given.looking("Gateway", {"status": {"conditions": [refused]}})
    found = given.condition(given.run(given.cluster(), given.reached(gateway=waiting)), "BackendReady")
    assert "LoadBalancer" not in found.message


def test_an_envoy_gateway_that_is_present_takes_no_ai_gateway_of_modelplane() -> None:
    for stack in ({"gateway": "Present"}, {"gateway": "Present", "aiGateway": "Managed"}):
        body: dict[str, Any] = given.cluster()
        body["spec"]["stack"] = stack
        with pytest.raises(InvalidObject, match="aiGateway must be Present where gateway is"):
            admit(body)
    body["spec"]["stack"] = {"gateway": "Present", "aiGateway": "Present"}
    admit(body)


def test_a_control_cluster_without_load_balancers_is_named_too() -> None:
    store = serving("http", address="")
    store["gateway"]["status"] = {"conditions": [UNASSIGNED]}
    (found,) = decided(store).conditions
    assert found.message == (
        "Gateway modelplane-system/public-gateway: No addresses. If this stays, the cluster gives no address to "
        "Services of type LoadBalancer: install what does, such as MetalLB or the controller of its cloud."
    )
