"""Reads a managed resource of a cloud's provider, and its config."""

from modelplane.clouds import Seen
from modelplane.observed.fields import condition, excerpt, is_true, mapping, text
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

#: Conditions in which a provider says why it could not do what is asked for; the first is of work in the background.
_FAILURES = ("LastAsyncOperation", "Synced")


@once_per_version
def read_managed(obj: Object) -> Seen:
    """Return what is observed of a managed resource; an unreadable field reads as missing."""
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    errors = (condition(obj, kind) for kind in _FAILURES if condition(obj, kind).get("status") == "False")
    return Seen(
        name=obj.name,
        for_provider=mapping(spec.get("forProvider")),
        init_provider=mapping(spec.get("initProvider")),
        ready=is_true(obj, "Ready"),
        error=next((found for each in errors if (found := excerpt(each.get("message")))), ""),
        there=mapping(status.get("atProvider")),
    )


def has_acted(obj: Object) -> bool:
    """Tell whether the provider has ever acted on a managed resource."""
    return bool(condition(obj, "Synced"))


def read_account(config: Object, field: str) -> str:
    """Return a field of the spec of a provider's config, "" for none."""
    return text(mapping(config.body.get("spec")).get(field))
