"""Which endpoints belong to each entry of a service."""

from collections.abc import Iterable, Mapping, Sequence

from modelplane.model.routing import Endpoint, ServiceEntry


def select(entries: Sequence[ServiceEntry], endpoints: Iterable[Endpoint]) -> tuple[tuple[Endpoint, ...], ...]:
    """Return the endpoints of each entry, by name; an endpoint that several entries select belongs to the first."""
    selected: list[list[Endpoint]] = [[] for _ in entries]
    for endpoint in sorted(endpoints, key=lambda each: each.name):
        first = next((i for i, entry in enumerate(entries) if matches(entry.selector, endpoint.labels)), None)
        if first is not None:
            selected[first].append(endpoint)
    return tuple(map(tuple, selected))


def matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Tell whether labels match `matchLabels`; an empty selector matches everything."""
    return all(labels.get(key) == value for key, value in selector.items())
