"""By which names the engines of a service's endpoints serve: one header tells it to the gateways of their clusters."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

#: Characters of the value of a header in an HTTPRoute.
LIMIT: Final = 4096
#: Stands for a name that is not known.
_UNKNOWN: Final = "-"


def list_served(names: Mapping[str, str]) -> str:
    """Return the header's value of the names of models by endpoint, "" for one that is not known.

    It is the name that most endpoints have, and then, for each other one, the name and the endpoints that have it:
    `a b=two-0,two-1`. It is "" where no name is known or the list has no room.
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
