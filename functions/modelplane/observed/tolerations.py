"""Reads the tolerations of a pool, as published by the cluster or stamped on a replica."""

from typing import Any

from modelplane.model.fleet import PodToleration
from modelplane.observed.fields import mappings, text


def read_tolerations(declared: Any) -> tuple[PodToleration, ...]:
    """Return the tolerations in their order; as in Kubernetes, the default operator is Equal."""
    return tuple(
        PodToleration(
            key=text(each.get("key")),
            operator=text(each.get("operator")) or "Equal",
            value=text(each.get("value")),
            effect=text(each.get("effect")),
        )
        for each in mappings(declared)
    )
