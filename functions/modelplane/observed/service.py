"""Reads the status of a ModelService."""

from typing import Final

from modelplane.model.conditions import Reason, ServiceCondition
from modelplane.observed.fields import condition, mapping, text
from modelplane.step import Object

#: The values of `status.keys` for a service that needs no key: that has had none, and whose keys an edit has removed.
OPEN: Final = "open"
OPENED: Final = "open, keys removed"
#: The reasons of RoutingReady where a service names keys that cannot be used.
_UNUSABLE: Final = frozenset({Reason.KEY_MISSING, Reason.KEY_INVALID})


def needs_no_key(service: Object) -> bool:
    """Tell whether a service has published that its callers need no key."""
    return _keys(service) in {OPEN, OPENED}


def has_lost_keys(service: Object) -> bool:
    """Tell whether callers of a service have needed keys until now, or until an edit removed them all.

    Where it has taken nobody ("0"), its condition says that none of its keys could be used; a service without any that
    the gateway required has lost none.
    """
    keys = _keys(service)
    unusable = condition(service, ServiceCondition.ROUTING_READY).get("reason") in _UNUSABLE
    return keys == OPENED or (keys.isdecimal() and (keys != "0" or unusable))


def is_open(service: Object) -> bool:
    """Tell whether a service takes requests without a key."""
    return needs_no_key(service) and bool(text(mapping(service.body.get("status")).get("address")))


def _keys(service: Object) -> str:
    return text(mapping(service.body.get("status")).get("keys"))
