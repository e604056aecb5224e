"""Parts of messages to users."""

from collections.abc import Mapping

from modelplane.observed.remote import Remote

#: What to do about a Gateway whose Service gets no address.
NO_LOAD_BALANCER = (
    "If this stays, the cluster gives no address to Services of type LoadBalancer: install what does, such as MetalLB "
    "or the controller of its cloud"
)


def sentences(*parts: str) -> str:
    """Return the non-empty parts as one text, each with a period at its end."""
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


def called(manifest: Mapping[str, object]) -> str:
    """Return kind and name of a manifest, as `kubectl` takes them."""
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{manifest.get('kind') or 'object'} {name or ''}".rstrip()


def out_of_sync(cluster: str, remotes: Mapping[str, Remote]) -> str:
    """Return which objects on a cluster are not in sync, since when and why; "" if all are.

    A cluster that does not answer is one cause: the failures are counted, and reported with the earliest time and one
    cause. Each Object's own condition Synced has the details.
    """
    failing = {name: remote for name, remote in sorted(remotes.items()) if remote.synced is False}
    if not failing:
        return ""
    first, *others = failing
    since = min((remote.since for remote in failing.values() if remote.since), default="")
    what = f"{len(failing)} of {len(remotes)} objects are" if others else f"{first} is"
    cause = failing[first].why or "no reason given"
    if len({remote.why for remote in failing.values()}) > 1:
        cause = f"{first}: {cause}"
    where, when = f"cluster {cluster}: " if cluster else "", f" since {since}" if since else ""
    return f"{where}{what} not in sync{when}: {cause}"
