"""What `modelplane check` does once its arguments are read."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from modelplane import __version__
from modelplane.cli.console import echo, printing
from modelplane.cli.options import Where
from modelplane.cli.source import connect, namespace_of, own, read, read_live, saying_why
from modelplane.live import Resource, Rights, Server, ServerError, list_objects
from modelplane.model.names import API_VERSION, GROUP
from modelplane.reading.fleet import read_clusters
from modelplane.reading.fleet_tables import show_rows, shown
from modelplane.reading.kinds import OWN
from modelplane.reading.published import State, read_gateways
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest, items, mapping
from modelplane.reading.versions import read_versions

#: Name and version of the JSON that it prints.
CHECK_VERSION: Final = "check.modelplane.ai/v1alpha1"
_NOT_WELL: Final = 1
_PACKAGES: Final = tuple(
    Resource("pkg.crossplane.io/v1", kind, f"{kind.lower()}s", namespaced=False)
    for kind in ("Configuration", "Function", "Provider")
)
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_STYLES: Final = {"ok": "green", "unknown": "yellow", "failed": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was checked, how it stands (ok, failed or unknown), and what is to say of it."""

    check: str
    state: str
    message: str


def check(where: Where, output: str) -> None:
    """Print what is well and what is not; exit with 1 if something is not."""
    with saying_why():
        findings = list(_live(where) if where.live else _of_fleet(read(where, ()).reader))
    # Where versions differ, nothing else is sure.
    findings.sort(key=lambda each: each.check != "versions")
    if output in ("json", "yaml"):
        echo(
            {"apiVersion": CHECK_VERSION, "version": __version__, "findings": [asdict(each) for each in findings]},
            output,
        )
    else:
        with printing() as console:
            rows = (
                ([shown(each.check), shown(each.state, _STYLES[each.state])], each.message or "-") for each in findings
            )
            show_rows(console, ("CHECK", "STATE", "FOUND"), rows, spaced=False)
    if any(each.state == "failed" for each in findings):
        sys.exit(_NOT_WELL)


def _live(where: Where) -> Iterator[Finding]:
    """Yield what a control cluster has; raises LiveError if it is not reached."""
    with connect(where) as server:
        version = server.get("/version")
        yield Finding("API server", "ok", f"Kubernetes {version.get('gitVersion', '')}")
        yield _kinds(server)
        namespace = namespace_of(where, server)
        kinds = (
            "InferenceCluster",
            "InferenceGateway",
            "ModelDeployment",
            "ModelService",
            "ModelCache",
            "ModelReplica",
        )
        yield from _rights(server, kinds, namespace)
        yield from _packages(server)
        found = read_live(server, map(own, kinds[:-1]), namespace)
        yield from _of_fleet(found.reader)


def _kinds(server: Server) -> Finding:
    try:
        listed = server.get(f"/apis/{API_VERSION}").get("resources") or ()
    except ServerError as error:
        return Finding("kinds", "failed", f"{API_VERSION}: {error}. Install the Configuration modelplane.")
    missing = sorted(OWN.keys() - {each["kind"] for each in listed})
    if missing:
        return Finding("kinds", "failed", f"not established: {', '.join(missing)}. See the conditions of the XRDs.")
    return Finding("kinds", "ok", f"all {len(OWN)} of {API_VERSION}")


def _rights(server: Server, kinds: Iterable[str], namespace: str) -> Iterator[Finding]:
    """Yield which kinds may be listed, and which may not."""
    may: dict[bool, list[str]] = {True: [], False: []}
    for kind in kinds:
        attributes = {"verb": "list", "group": GROUP, "resource": OWN[kind].plural}
        within = {"namespace": namespace} if OWN[kind].namespaced and namespace else {}
        spec = {"resourceAttributes": {**attributes, **within}}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
        may[bool(server.post(_REVIEWS, review)["status"].get("allowed"))].append(OWN[kind].plural)
    where = f"in namespace {namespace}" if namespace else "in all namespaces"
    if may[True]:
        yield Finding("rights", "ok", f"may list {', '.join(may[True])} {where}")
    if may[False]:
        yield Finding(
            "rights", "unknown", f"may not list {', '.join(may[False])} {where}: docs/give-rights.md has roles"
        )


def _packages(server: Server) -> Iterator[Finding]:
    for resource in _PACKAGES:
        found = list_objects(server, resource)
        if found.rights is Rights.NOT_ALLOWED:
            yield Finding(resource.plural, "unknown", found.why)
            continue
        if found.rights is Rights.ABSENT:
            yield Finding(resource.plural, "failed", "the control cluster has no Crossplane: install it")
            continue
        bad = [(obj, each) for obj in found.objects for each in items(obj, "status", "conditions") if _is_bad(each)]
        for obj, each in bad:
            why = each.get("message") or each.get("reason")
            said = f"{obj['metadata']['name']}: {each.get('type')} {each.get('status')}: {why}"
            yield Finding(resource.plural, "failed", said)
        if not bad:
            names = ", ".join(f"{obj['metadata']['name']} ({_version(obj)})" for obj in found.objects)
            yield Finding(resource.plural, "ok" if names else "unknown", names or "none")


def _is_bad(found: Manifest) -> bool:
    return found.get("type") in ("Installed", "Healthy") and found.get("status") != "True"


def _version(package: Manifest) -> str:
    return str(mapping(package, "spec").get("package", "")).rpartition(":")[2]


def _of_fleet(reader: Reader) -> Iterator[Finding]:
    """Yield how the versions, the clusters and the gateways of a fleet stand."""
    yield _versions(reader)
    clusters = read_clusters(reader)
    for cluster in clusters:
        good = cluster.state in (State.READY, State.TAINTED)
        yield Finding(f"cluster {cluster.name}", "ok" if good else "failed", cluster.message or str(cluster.state))
    if not clusters:
        yield Finding("clusters", "unknown", "no InferenceCluster: nothing can be placed")
    for gateway in read_gateways(reader):
        good = gateway.state is State.READY
        yield Finding(
            f"gateway {gateway.name}", "ok" if good else "failed", gateway.message or gateway.url or gateway.address
        )


def _versions(reader: Reader) -> Finding:
    """Return whether the Configuration and the functions have one version, as the objects say that state one."""
    versions = read_versions(reader.list)
    if versions.differing:
        return Finding("versions", "failed", "; ".join(versions.differing))
    if not versions.stated:
        return Finding("versions", "unknown", f"no object states one; this program is {__version__}")
    return Finding("versions", "ok", f"the Configuration and its functions match; this program is {__version__}")
