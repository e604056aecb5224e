"""References to the objects of a fleet, as commands print and take them."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final, NoReturn

import click

from modelplane.cli.options import BAD_INPUT
from modelplane.model.names import GROUP
from modelplane.reading.fleet import Fleet
from modelplane.reading.kinds import OWN, Key
from modelplane.reading.reader import Reader

#: The kind of each part of a fleet.
KIND_OF: Final[Mapping[str, str]] = {
    "clusters": "InferenceCluster",
    "deployments": "ModelDeployment",
    "services": "ModelService",
    "caches": "ModelCache",
}
_NEAREST: Final = 3


#: What each kind may be called besides its own names.
_CALLED: Final[Mapping[str, str]] = {
    "InferenceClass": "class",
    "InferenceCluster": "cluster",
    "InferenceGateway": "gateway",
    "ModelCache": "cache",
    "ModelDeployment": "deployment",
    "ModelEndpoint": "endpoint",
    "ModelReplica": "replica",
    "ModelService": "service",
    "ClusterModel": "model",
    "ManagedCluster": "managed",
    "ServingStack": "stack",
}
_NAMES: Final[Mapping[str, str]] = {
    name: kind
    for kind, called in _CALLED.items()
    for name in (kind.lower(), OWN[kind].plural, OWN[kind].short, called, f"{called}s")
    if name
}


def parse_ref(ref: str) -> Key:
    """Return the key of [KIND/][NAMESPACE/]NAME, by default of a ModelDeployment; namespace "" where it names none."""
    first, *rest = ref.split("/")
    kind = _NAMES.get(first.lower()) if rest else None
    rest = rest if kind else [first, *rest]
    namespaced = OWN[kind].namespaced if kind else True
    if not all(rest) or len(rest) > 1 + namespaced:
        some = "ml/chat, service/ml/chat or cluster/eu-1"
        raise click.UsageError(f"{ref}: give [KIND/][NAMESPACE/]NAME, for example {some}")
    *namespace, name = rest
    return Key(f"{kind or 'ModelDeployment'}.{GROUP}", "".join(namespace), name)


def refs(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Yield the part and the reference (NAMESPACE/NAME, or NAME of a cluster) of each object of a fleet."""
    yield from (("clusters", each.name) for each in fleet.clusters)
    yield from (("deployments", f"{each['namespace']}/{each['name']}") for each in fleet.deployments)
    yield from (("services", f"{each.namespace}/{each.name}") for each in fleet.services)
    yield from (("caches", f"{each.namespace}/{each.name}") for each in fleet.caches)


def refuse_absent(kind: str, ref: str, listed: Iterable[str], how: str, unknown: Iterable[str] = ()) -> NoReturn:
    """Say that there is no object of a kind and reference, with the nearest ones, how to list all; exit with 2."""
    by_name: dict[str, list[str]] = {}
    for each in listed:
        by_name.setdefault(each.rpartition("/")[2], []).append(each)
    close = get_close_matches(ref.rpartition("/")[2], by_name, _NEAREST)
    near = [each for name in close for each in by_name[name]]
    nearest = f"; the nearest: {', '.join(near[:_NEAREST])}" if near else ""
    click.echo(f"There is no {kind} {ref}{nearest}. List them: {how}", err=True)
    for each in unknown:
        click.echo(each, err=True)
    sys.exit(BAD_INPUT)


def refuse_unknown(reader: Reader, key: Key, unknown: Iterable[str]) -> NoReturn:
    """Say that a reader has no object of a key, with the nearest ones; exit with 2."""
    kind = key.kind.partition(".")[0]
    found = (each["metadata"] for each in reader.list(key.kind))
    listed = ["/".join(filter(None, (each.get("namespace"), each["name"]))) for each in found]
    everywhere = " -A" if OWN[kind].namespaced else ""
    how = f"kubectl get {OWN[kind].plural}{everywhere}"
    refuse_absent(kind, "/".join(filter(None, key[1:])), listed, how, unknown)
