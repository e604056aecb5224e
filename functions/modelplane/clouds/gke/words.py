"""What Google's refusals mean, and what to do about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from modelplane.clouds.cloud import Managed, Seen

#: Most characters that are repeated of a provider's message.
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Words:
    """A refusal in our words. `waits`: it may pass by itself."""

    message: str
    waits: bool


#: Parts of Google's messages, lower case, with what they mean; the first that is found counts.
_KNOWN: Final[tuple[tuple[tuple[str, ...], str, bool], ...]] = (
    (
        ("disableserviceaccountkeycreation", "key creation is not allowed"),
        "The organisation forbids keys of service accounts (constraint iam.disableServiceAccountKeyCreation): let the "
        "project be an exception of it",
        False,
    ),
    (
        ("stockout", "zone_resource_pool_exhausted", "does not have enough resources", "resource pool exhausted"),
        "The zone has no such machines now, and GKE goes on trying: add a pool beside it in other zones, or one with a "
        "reservation",
        True,
    ),
    (
        ("quota", "insufficient regional quota"),
        "The project's quota does not suffice: ask for more with `gcloud compute regions describe`, then "
        "IAM & Admin > Quotas",
        True,
    ),
    (
        ("service_disabled", "has not been used in project", "api is disabled"),
        "An API is off in the project: gcloud services enable container.googleapis.com compute.googleapis.com "
        "iam.googleapis.com cloudresourcemanager.googleapis.com file.googleapis.com",
        True,
    ),
    (
        ("permission", "forbidden", "error 403"),
        "The credentials of spec.cluster.gke.credentials lack a right: docs/make-a-cluster.md lists the roles",
        True,
    ),
    (
        ("billing",),
        "The project has no billing account: gcloud billing projects link",
        True,
    ),
    (
        ("cannot change the value of the argument",),
        "A field cannot be changed, and the provider changes nothing else of the resource while it differs",
        False,
    ),
    (("invalid", "error 400", "not found"), "Google does not take the request as it is", False),
)


def read(error: str) -> Words:
    """Return what a provider's error means; an unknown one is repeated, and may pass."""
    said = error.lower()
    quoted = error if len(error) <= _LONGEST else f"{error[: _LONGEST - 1]}…"
    for parts, meaning, waits in _KNOWN:
        if any(part in said for part in parts):
            return Words(f"{meaning}. Google says: {quoted.rstrip('.')}.", waits)
    return Words(f"Google says: {quoted.rstrip('.')}.", waits=True)


def waits(resources: Mapping[str, Managed], seen: Mapping[str, Seen]) -> tuple[str, ...]:
    """Return what a cluster without a kubeconfig waits for: refusals first, else what is being made."""
    asked = {name: each for name, each in resources.items() if not name.startswith("pool-")}
    failed = tuple(
        f"{each.kind.kind} {each.name}: {read(seen[name].error).message}"
        for name, each in asked.items()
        if name in seen and seen[name].error and not seen[name].ready
    )
    late = [each.kind.kind for name, each in asked.items() if name not in seen or not seen[name].ready]
    return failed or ((f"{', '.join(dict.fromkeys(late))} on GKE: being made",) if late else ())
