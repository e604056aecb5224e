"""The service account by which Modelplane's providers act on the cluster: GKE's kubeconfig carries no credentials."""

from typing import Final

from modelplane.clouds.cloud import Asked, Identity, Key, Managed
from modelplane.clouds.gke import kinds
from modelplane.clouds.names import Limits

#: Composition resource names.
ACCOUNT, ACCOUNT_KEY, MEMBER = "service-account", "service-account-key", "cluster-admin"
#: Of the id of a service account.
_LIMITS: Final = Limits(30, shortest=6)
_ROLE: Final = "roles/container.admin"


def account_id(asked: Asked) -> str:
    """Return the id of the service account."""
    return _LIMITS.name(asked.cluster, asked.key, ACCOUNT)


def secret(asked: Asked) -> str:
    """Return the name of the Secret with the account's key."""
    return f"{account_id(asked)}-key"


def of_providers(asked: Asked) -> Identity:
    """Return the identity as Modelplane's providers take it."""
    return Identity("GoogleApplicationCredentials", Key(secret(asked), "private_key"))


def resources(asked: Asked) -> dict[str, Managed]:
    """Return the account, its key, and its right on the project's clusters."""
    called = account_id(asked)
    email = f"{called}@{asked.account}.iam.gserviceaccount.com"
    member = {"project": asked.account, "role": _ROLE, "member": f"serviceAccount:{email}"}
    return {
        ACCOUNT: Managed(kinds.SERVICE_ACCOUNT, called, {"displayName": f"Modelplane on {asked.cluster}"[:100]}),
        ACCOUNT_KEY: Managed(
            kinds.SERVICE_ACCOUNT_KEY, called, {"serviceAccountIdRef": {"name": called}}, secret=secret(asked)
        ),
        MEMBER: Managed(kinds.PROJECT_IAM_MEMBER, called, member),
    }
