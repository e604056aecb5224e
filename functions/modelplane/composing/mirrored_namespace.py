"""Whose a namespace on an inference cluster is that has a hash in its name: another team's could have the same one.

Its label says which namespace it mirrors. Whoever makes it first writes that, and nobody else changes it: hashes in
names have 32 bits, and a name with a given one is found in minutes.
"""

from modelplane.composing.messages import sentences
from modelplane.model.names import LABEL_NAMESPACE, is_mirrored_by_hash, tenant_namespace
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote


def find_unclaimed(team: str, namespace: Remote | None) -> str:
    """Return why nothing may be made yet in the namespace that mirrors `team`, "" where it may.

    `namespace` is its Object as it is observed, None while there is none.
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
