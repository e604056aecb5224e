"""The model names under which a service's engines serve, in one header for the gateways of their clusters."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

#: Most characters of a header's value in an HTTPRoute.
LIMIT: Final = 4096
#: Stands for an unknown name.
_UNKNOWN: Final = "-"


def list_served(names: Mapping[str, str]) -> str:
    """Return the header's value for these model names by endpoint; a name is "" where it is not known.

    The value is the most frequent name, then each other name with its endpoints: `a b=two-0,two-1`. It is "" if no name
    is known or the list is too long.
    """
    named = {endpoint: name or _UNKNOWN for endpoint, name in names.items()}
    if not any(names.values()):
        return ""
    counts = Counter(named.values())
    most = min(counts, key=lambda name: (-counts[name], name))
    others: defaultdict[str, list[str]] = defaultdict(list)
    for endpoint, name in sorted(named.items()):
        if name != most:
            others[name].append(endpoint)
    value = " ".join([most, *(f"{name}={','.join(of_name)}" for name, of_name in sorted(others.items()))])
    return value if len(value) <= LIMIT else ""
