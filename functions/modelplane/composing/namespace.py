"""The namespace on an inference cluster that mirrors a team's: which team it belongs to, and whether it is closed.

A mirrored name with a hash could be another team's too: hashes have 32 bits, and a name with a given hash is found in
minutes. So a label says which namespace it mirrors. The first one to create the namespace writes it, and nobody else
changes it.

With isolation NewNamespaces a NetworkPolicy closes the namespaces that Modelplane creates. A label says whether it has
created one: an Object that only creates writes it, so that a namespace that existed before stays without it. All
Objects of one namespace read the same label, and so want the same. Each keeps what it has read in its own manifest, so
that a label that is removed on the cluster is put back there, and opens nothing. A second label says in the same way
that a namespace was created with pods that do not reach the metadata of clouds.

Each Object of the namespace, and of its NetworkPolicy, is one of many for the same thing. provider-kubernetes applies
under the Object's name (Server-Side Apply): the managedFields list every Object that has ever applied it, and would
grow with each replica that a team has ever had. So an Object applies only where what is shared is not as wanted.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.composing.messages import sentences
from modelplane.kube.object import KEPT, ORPHANED, Handling
from modelplane.model.fleet import Egress, Isolation, Mark, TeamIsolation
from modelplane.model.names import (
    LABEL_EGRESS,
    LABEL_ISOLATED,
    LABEL_NAMESPACE,
    is_mirrored_by_hash,
    tenant_namespace,
)
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote


def find_unclaimed(team: str, namespace: Remote | None) -> str:
    """Return why nothing may be composed yet in the namespace that mirrors `team`, "" where it may.

    `namespace` is the observed Object of that namespace, None while there is none.
    """
    if not is_mirrored_by_hash(team):
        return ""
    mirrored = tenant_namespace(team)
    if namespace is None or namespace.manifest is None:
        failure = namespace.sync_failure if namespace else ""
        return sentences(f"Namespace {mirrored} of the cluster is not seen yet", failure)
    owner = text(mapping(mapping(namespace.manifest.get("metadata")).get("labels")).get(LABEL_NAMESPACE))
    if owner == team:
        return ""
    label = f"{LABEL_NAMESPACE}={owner}" if owner else f"no label {LABEL_NAMESPACE}"
    found = f"Namespace {mirrored} of the cluster mirrors another namespace than {team}: it has {label}"
    return sentences(found, "Use a namespace whose name has at most 51 characters.")


def _values(label: str, seen: Remote | None) -> tuple[str, str]:
    """Return a label of a namespace as the cluster shows it, and as the namespace's Object has it, "" for none.

    An Object that has seen the namespace has the label as it was then, and so puts back one that somebody removes. One
    that has not has the label that it creates the namespace with, which says nothing of one that exists.
    """
    if seen is None:
        return "", ""
    manifests = seen.manifest, None if seen.claims else seen.wanted
    found, known = (mapping(mapping(mapping(each).get("metadata")).get("labels")).get(label) for each in manifests)
    return text(found), text(known)


def read_mark(seen: Remote | None) -> Mark:
    """Return the mark of a namespace, NONE while there is none: that of its label, and that which its Object has."""
    found, known = (Mark(each) if each in tuple(Mark) else Mark.NONE for each in _values(LABEL_ISOLATED, seen))
    return Mark.CREATION if Mark.CREATION in (found, known) else found or known


def wanted_mark(asked: TeamIsolation, seen: Remote | None) -> Mark:
    """Return the mark that a namespace should have: the one it was created with stays, whatever is asked for later."""
    if seen is None or seen.manifest is None:
        return Mark.NONE if asked.isolation is Isolation.OPEN else Mark.CREATION
    return read_mark(seen) or (Mark.ENFORCED if asked.isolation is Isolation.ENFORCED else Mark.NONE)


def _made_with(seen: Remote | None) -> Egress:
    """Return what the pods of a namespace reached when it was created, by its label and that which its Object has."""
    return Egress.NO_METADATA if Egress.NO_METADATA in _values(LABEL_EGRESS, seen) else Egress.NONE


def wanted_egress(asked: TeamIsolation, seen: Remote | None) -> Egress:
    """Return what the label of a namespace should say: what it was created with stays, whatever is asked for later."""
    if seen is not None and seen.manifest is not None:
        return _made_with(seen)
    limits = asked.isolation is not Isolation.OPEN and asked.egress is not Egress.NONE
    return Egress.NO_METADATA if limits else Egress.NONE


def find_egress(asked: TeamIsolation, seen: Remote | None) -> Egress:
    """Return what the pods of a closed namespace reach: what is asked for, or what they reached from the beginning."""
    return asked.egress or _made_with(seen)


def is_closed(asked: TeamIsolation, seen: Remote | None) -> bool:
    """Tell whether a NetworkPolicy closes a namespace."""
    made_closed = asked.isolation is Isolation.NEW_NAMESPACES and read_mark(seen) is Mark.CREATION
    return asked.isolation is Isolation.ENFORCED or made_closed


def shared_handling(wanted: Mapping[str, Any], seen: Remote | None) -> Handling:
    """Return how the Object with the manifest `wanted` treats an object that others apply too; both leave it behind.

    `seen` is the observed Object. KEPT, which creates what is absent, while the object is not known or as wanted.
    ORPHANED, which applies it, where it is not, until that is in sync: labels that are no longer wanted go only if
    those who have applied them apply the manifest without them.
    """
    if seen is None or seen.manifest is None:
        return KEPT
    applying = seen.updates and (seen.synced is not True or seen.wanted != wanted)
    return ORPHANED if applying or _differs(seen.manifest, wanted, before=seen.wanted) else KEPT


def _differs(found: Mapping[str, Any], wanted: Mapping[str, Any], *, before: Mapping[str, Any]) -> bool:
    """Tell whether an object has another spec than `wanted`, lacks a label of it, or has one of `before` alone."""
    labels, there = _labels(wanted), _labels(found).items()
    dropped = {key: value for key, value in _labels(before).items() if key not in labels}
    other_spec = "spec" in wanted and wanted["spec"] != found.get("spec")
    return other_spec or not labels.items() <= there or not dropped.items().isdisjoint(there)


def _labels(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    found = mapping(mapping(manifest.get("metadata")).get("labels"))
    return {key: value for key, value in found.items() if isinstance(value, str)}
