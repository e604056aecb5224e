"""The commit of a cache: resolved by the first download that starts, and the same on every cluster.

A function cannot ask the hub. Downloads that start while no commit is known resolve the revision themselves, report the
commit and pin it on their volume. The first one that is observed is published, and all later downloads get it as an
argument. Waiting for it everywhere was rejected: it would delay every first staging by a pod's start, for a branch that
hardly ever moves meanwhile. If it does, a claim with another commit is replaced before anything mounts it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from modelplane.compose_cache.cluster_staging import ClusterStaging
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing.pod_messages import CACHE_PODS
from modelplane.kube.hydration import RESOLVE
from modelplane.observed.fields import mapping, text
from modelplane.step import Object, Request

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def source_of(spec: CacheSpec) -> str:
    """Return the source of a cache as one text for its status: the repository, "@", and the revision."""
    return f"{spec.repo}@{spec.revision}" if spec.revision else spec.repo


def reported(request: Request) -> Mapping[str, str]:
    """Return the commit that each download has resolved, by the uid of its claim."""
    found = CACHE_PODS.reports(request, RESOLVE)
    return {uid: commit for uid, commit in found.items() if _COMMIT.fullmatch(commit)}


def _candidates(
    cache: Object, spec: CacheSpec, stagings: Sequence[ClusterStaging], reports: Mapping[str, str]
) -> Iterator[Any]:
    """Yield the known commits of the cache's present source, the preferred one first."""
    status = mapping(cache.body.get("status"))
    if status.get("commitOf") == source_of(spec):
        yield status.get("commit")
    yield from (each.last.get("commit") for each in stagings if each.last.get("name") == spec.volume)
    yield from (reports.get(each.uid) for each in stagings if each.uid)


def resolve(cache: Object, spec: CacheSpec, stagings: Sequence[ClusterStaging], reports: Mapping[str, str]) -> str:
    """Return the cache's commit for all clusters, "" while none is known; `stagings` are sorted by cluster name."""
    return next(filter(None, map(text, _candidates(cache, spec, stagings, reports))), "")
