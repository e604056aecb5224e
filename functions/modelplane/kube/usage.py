"""The Usage that keeps an object from being deleted, for a reason."""

from collections.abc import Mapping
from typing import Any

_API = "protection.crossplane.io/v1beta1"


def _usage(kind: str, of: dict[str, Any], reason: str) -> dict[str, Any]:
    return {"apiVersion": _API, "kind": kind, "metadata": {}, "spec": {"of": of, "reason": reason}}


def protected(api_version: str, kind: str, name: str, *, reason: str) -> dict[str, Any]:
    """Return the ClusterUsage that refuses the deletion of a cluster-scoped object with `reason` while it exists."""
    return _usage("ClusterUsage", {"apiVersion": api_version, "kind": kind, "resourceRef": {"name": name}}, reason)


def protected_here(api_version: str, kind: str, name: str, *, reason: str) -> dict[str, Any]:
    """Return the Usage that does so for an object in the Usage's own namespace."""
    return _usage("Usage", {"apiVersion": api_version, "kind": kind, "resourceRef": {"name": name}}, reason)


def ordered(of: Mapping[str, Any], by: Mapping[str, Any], *, namespace: str) -> dict[str, Any]:
    """Return the Usage that keeps `of` (apiVersion, kind, name) until `by` is gone, in the namespace of `of`.

    With "" for the namespace it is a ClusterUsage of something cluster-scoped. A deletion of `of` that was refused
    meanwhile happens then.
    """
    ends = [
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "resourceRef": {"name": each["name"]}}
        for each in (of, by)
    ]
    return {
        "apiVersion": _API,
        "kind": "Usage" if namespace else "ClusterUsage",
        "metadata": {"namespace": namespace} if namespace else {},
        "spec": {"of": ends[0], "by": ends[1], "replayDeletion": True},
    }
