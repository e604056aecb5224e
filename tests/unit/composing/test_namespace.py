"""Whether an Object applies what all replicas of a team share: each that does is listed there for good."""

from typing import Any

import pytest

from modelplane.composing.namespace import shared_handling
from modelplane.kube.object import KEPT, ORPHANED
from modelplane.observed.remote import Remote

NAMESPACE = {"kind": "Namespace", "metadata": {"name": "mp-team", "labels": {"modelplane.ai/namespace": "team"}}}
ENFORCED = {"kind": "Namespace", "metadata": {"name": "mp-team", "labels": {"enforce": "baseline"}}}
POLICY = {"kind": "NetworkPolicy", "metadata": {"name": "modelplane"}, "spec": {"ingress": [{}]}}
CLOSED = {**POLICY, "spec": {"ingress": []}}


def there(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    """Return an object as a cluster shows it, which has written more into it."""
    metadata = {**manifest["metadata"], "labels": {**manifest["metadata"].get("labels", {}), **labels}, "uid": "u"}
    return {"spec": {"finalizers": ["kubernetes"]}, **manifest, "metadata": metadata, "status": {"phase": "Active"}}


def seen(manifest: dict[str, Any] | None, found: dict[str, Any] | None, **fields: Any) -> Remote:
    return Remote(wanted=manifest or {}, manifest=found, **{"synced": True, "updates": False, **fields})


CASES = {
    "is made where nothing is known yet": (NAMESPACE, None, KEPT),
    "is made where it is not there": (NAMESPACE, seen(NAMESPACE, None), KEPT),
    "is let be as wanted": (NAMESPACE, seen(NAMESPACE, there(NAMESPACE)), KEPT),
    "is let be with labels of others": (NAMESPACE, seen(NAMESPACE, there(NAMESPACE, tier="gold")), KEPT),
    "is given a label that it lacks": (NAMESPACE, seen(NAMESPACE, there({"metadata": {}})), ORPHANED),
    "is given another value": (NAMESPACE, seen(NAMESPACE, there(ENFORCED)), ORPHANED),
    "loses what it was given once": (NAMESPACE, seen(ENFORCED, there(NAMESPACE, enforce="baseline")), ORPHANED),
    "is let be where it never had what is not wanted": (NAMESPACE, seen(ENFORCED, there(NAMESPACE)), KEPT),
    "is applied as it has changed": (NAMESPACE, seen(ENFORCED, there(NAMESPACE), updates=True), ORPHANED),
    "is applied until that is in sync": (
        NAMESPACE,
        seen(NAMESPACE, there(NAMESPACE), updates=True, synced=None),
        ORPHANED,
    ),
    "is not applied any more then": (NAMESPACE, seen(NAMESPACE, there(NAMESPACE), updates=True), KEPT),
    "has the rules that are wanted": (POLICY, seen(POLICY, there(POLICY)), KEPT),
    "has other rules": (POLICY, seen(POLICY, there(CLOSED)), ORPHANED),
    "has no rules": (POLICY, seen(POLICY, {"metadata": {}}), ORPHANED),
}


@pytest.mark.parametrize(("wanted", "observed", "handling"), CASES.values(), ids=CASES)
def test_a_shared_object_is_applied_where_it_is_not_as_wanted(
    wanted: dict[str, Any], observed: Remote | None, handling: Any
) -> None:
    assert shared_handling(wanted, observed) == handling
