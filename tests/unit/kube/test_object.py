"""An observed composed resource that must stay is wanted again as it is, without what others wrote into it."""

from modelplane.kube.object import as_observed


def test_what_stays_keeps_its_identity_and_spec_alone() -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Object",
        "metadata": {"name": "x", "namespace": "n", "uid": "u", "labels": {"crossplane.io/composite": "c"}},
        "spec": {"a": 1},
        "status": {"b": 2},
    }
    assert as_observed(body) == {
        "apiVersion": "v1",
        "kind": "Object",
        "metadata": {"name": "x", "namespace": "n"},
        "spec": {"a": 1},
    }


def test_a_cluster_scoped_resource_has_no_namespace() -> None:
    body = {"apiVersion": "v1", "kind": "Config", "metadata": {"name": "x"}}
    assert as_observed(body) == {"apiVersion": "v1", "kind": "Config", "metadata": {"name": "x"}, "spec": {}}
