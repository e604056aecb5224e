"""Names of what is made in a cloud: within its limits, and of one InferenceCluster alone.

A resource of that name which already exists in the account would be adopted, and deleted later. So each name ends in a
hash over the InferenceCluster's key, which is made of its uid.
"""

import re
from dataclasses import dataclass

from modelplane.model.names import composed_name, digest

#: Hex digits of the key of an InferenceCluster.
_KEY_DIGITS = 8


def cluster_key(uid: str) -> str:
    """Return the key of an InferenceCluster by its uid."""
    return digest("cluster", uid, digits=_KEY_DIGITS)


@dataclass(frozen=True, slots=True)
class Limits:
    """The form of a name: at most `longest` and at least `shortest` characters of `[a-z0-9-]`, a letter first."""

    longest: int
    shortest: int = 1

    def name(self, readable: str, *parts: str) -> str:
        """Return `<readable>-<8 hex over parts>` within the limits."""
        text = re.sub(r"[^a-z0-9-]+", "-", readable.lower()).strip("-")
        first = text if text[:1].isalpha() else f"m-{text}".rstrip("-")
        return composed_name(re.sub(r"-{2,}", "-", first), *parts, limit=self.longest)


def private_network(name: str) -> str:
    """Return one of the 255 networks 10.1.0.0/16 to 10.255.0.0/16, by the name of a cluster."""
    return f"10.{1 + int(digest('network', name), 16) % 255}.0.0/16"
