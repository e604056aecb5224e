"""The texts of verdicts: what is wrong, what was found against what is needed, what to do."""

from collections.abc import Sequence
from typing import Final

from modelplane.stack.observation import Found, ReleaseState
from modelplane.stack.parts import PARTS, Chart, Part
from modelplane.stack.releases import ROLLBACK_LIMIT, Problem, remedy

KUBERNETES: Final = (
    "the cluster has no API resource.k8s.io/v1, which Kubernetes has from 1.34 on. Upgrade the cluster; nothing is "
    "installed until then"
)


def missing(part: Part, chart: Chart | None) -> str:
    """Return that a part is not there though Present was asked for; without a `chart` it can be nothing else."""
    api, kind, name = PARTS[part].shown_by
    lacks = f"spec.stack.{part} is Present, and the cluster has no {kind} {name} ({api})"
    if chart is None:
        return f"{lacks}. Install {PARTS[part].title} there: {PARTS[part].command}"
    install = (
        f"helm install {chart.name} {chart.repository}/{chart.name} --version {chart.version} "
        f"--namespace {chart.namespace} --create-namespace"
    )
    return f"{lacks}. Install {PARTS[part].title} there ({install}), or set spec.stack.{part} to Managed"


def gone(part: Part) -> str:
    """Return that a part is gone that somebody else had installed."""
    return (
        f"{PARTS[part].title} was there, installed by somebody else, and is gone. Install it again; or, to let "
        f"Modelplane install it, set spec.stack.{part} to Present, and to Managed after a minute"
    )


def not_set_up(part: Part) -> str:
    """Return that a part is not installed because the one that it is set up in is somebody else's."""
    other = PARTS[part].set_up_in or part
    return (
        f"{PARTS[part].title} is set up in the settings of {PARTS[other].title}, which somebody else has installed. "
        f"Install it and set it up there, and set spec.stack.{other} and spec.stack.{part} to Present"
    )


def of_another(part: Part) -> str:
    """Return that a part is not there, on a cluster where this ServingStack installs nothing."""
    return f"{PARTS[part].title} is not there, and nothing is installed by way of this InferenceCluster"


def not_updated(part: Part) -> str:
    """Return that a part is left as it was installed."""
    return f"Modelplane has installed {PARTS[part].title}, and does not update it while spec.stack.{part} is Present"


def waits(titles: Sequence[str]) -> str:
    """Return what has to run before."""
    return f"it is installed once {' and '.join(titles)} run" + ("s" if len(titles) == 1 else "")


def failed(part: Part, problem: Problem) -> str:
    """Return what is wrong with a release, and the ways out."""
    present = f"If the cluster has {PARTS[part].title} already, set spec.stack.{part} to Present"
    return f"{problem.text}. {problem.remedy}. {present}"


def not_changed(chart: Chart, release: ReleaseState) -> str:
    """Return why what is installed could not be looked at or changed, "" if it could."""
    if not release.error:
        return ""
    again = f"{remedy(chart, release.error)}It is tried again every minute"
    return f"what is installed stays as it is: {release.error}. {again}"


def progress(chart: Chart, release: ReleaseState, pods: str) -> str:
    """Return what a part that is being installed waits for."""
    if release.error:
        return release.error
    if release.state == "failed":
        return f"try {release.failed + 1} of {ROLLBACK_LIMIT + 1} failed: {release.description}"
    if not pods and release.found is Found.UNKNOWN and release.may_install:
        return f"provider-helm has not said yet how far release {chart.release} is, which it does within a minute"
    return pods
