"""What is wrong with a release that the provider does not put right by itself, and the way out.

The provider undoes a failed install or upgrade and tries again, `ROLLBACK_LIMIT` times. A revision in which Helm was
stopped stays pending; at the limit, and always in a rollback, it waits there for ever, also after a change of its spec.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from modelplane.stack.observation import Found, ReleaseState
from modelplane.stack.parts import Chart

#: `spec.rollbackLimit` of every Release.
ROLLBACK_LIMIT: Final = 3

_DEPLOYED: Final = "deployed"
_FAILED: Final = "failed"
_ROLLING_BACK: Final = "pending-rollback"
#: What to do, by what Helm or the provider says.
_REMEDIES: Final[Mapping[str, str]] = {
    "cannot be imported into the current release": (
        "The object was not made by this release: delete it on the cluster if nothing needs it"
    ),
    "no matches for kind": "The cluster lacks this kind: install the CRD that defines it",
    "failed to pull chart": (
        "See that the registry has chart {name} in version {version}, and what MODELPLANE_CHARTS and "
        "MODELPLANE_CHART_DIGESTS in install/functions.yaml say of it"
    ),
}
_PENDING: Final = frozenset({"pending-install", "pending-upgrade"})


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a release: Helm's own text, and what to do."""

    text: str
    remedy: str


def is_deployed(release: ReleaseState) -> bool:
    """Tell whether the last revision of a release is as the provider applied it."""
    return release.found is Found.THERE and release.state == _DEPLOYED


def revision_secret(chart: Chart, release: ReleaseState) -> str:
    """Return the name of the Secret in which Helm keeps the last revision, in the chart's namespace."""
    return f"sh.helm.release.v1.{chart.release}.v{release.revision}"


def remedy(chart: Chart, error: str) -> str:
    """Return what to do about a provider's error, a sentence with a space after it; "" for one without a remedy."""
    found = next((words for pattern, words in _REMEDIES.items() if pattern in error), "")
    return f"{found.format(name=chart.name, version=chart.version)}. " if found else ""


def problem(chart: Chart, release: ReleaseState) -> Problem | None:
    """Return what is wrong with a release and may stay so until somebody acts, None if nothing is.

    Without a release on the cluster the provider's error is all there is: of what exists and is not Helm's, of a kind
    that is missing, or of a chart that cannot be pulled.
    """
    if release.found is not Found.THERE and release.may_install and release.error:
        return Problem(release.error, f"{remedy(chart, release.error)}It is tried again every minute")
    state, stuck = release.state, release.failed >= ROLLBACK_LIMIT
    if release.found is not Found.THERE or not (stuck or state == _ROLLING_BACK):
        return None
    delete = f"kubectl delete secret {revision_secret(chart, release)} -n {chart.namespace}"
    said = release.description or release.error or "no reason given"
    if state == _ROLLING_BACK or state in _PENDING:
        found = f"Helm was stopped in {state} of revision {release.revision} of release {chart.release}: {said}"
        return Problem(found, f"Let it begin anew, on the cluster: {delete}")
    if state != _FAILED:
        return None
    which = f"revision {release.revision} of release {chart.release}"
    found = f"{which} failed, and none of {ROLLBACK_LIMIT} further tries is left: {said}"
    return Problem(found, f"Remove the cause, then let it be tried again, on the cluster: {delete}")
