"""Declared devices: read from manifests, checked for what Kubernetes would refuse, and prepared for selectors."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from sys import getsizeof
from typing import Any

from modelplane.cel import quantity, semver
from modelplane.cel.quantity import Quantity, QuantityError
from modelplane.cel.semver import Semver, SemverError
from modelplane.cel.spelling import spell_quantity, spell_version
from modelplane.cel.values import INT_MAX, INT_MIN, Map, Value, quantity_value
from modelplane.model.fleet import Attribute, ClaimKind, Device

_TYPES: dict[str, type] = {"string": str, "bool": bool, "int": int, "version": str}
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Kubernetes' limits on the names in a ResourceSlice.
_MAX_DOMAIN = 63
_MAX_IDENTIFIER = 32


class DeviceError(Exception):
    """A manifest that is not a valid device: `field` is the path inside it, "" for all of it, `why` the problem."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}" if field else why)
        self.field = field
        self.why = why


def read(manifest: object) -> Device:
    """Return the device of an entry of `spec.devices` or `gpuPools[].devices`, or of `cel --jsonl`. Raises DeviceError.

    Its values are not checked: see `problems`.
    """
    if not isinstance(manifest, Mapping):
        raise DeviceError("", "is not an object")
    claim = manifest.get("claim", ClaimKind.DRA)
    if claim not in tuple(ClaimKind):
        raise DeviceError("claim", f"{claim!r} is neither DRA nor Synthetic")
    count = manifest.get("count", 1)
    if type(count) is not int:
        raise DeviceError("count", f"{count!r} is not an integer")
    multiple = manifest.get("allowMultipleAllocations")
    if multiple is not None and type(multiple) is not bool:
        raise DeviceError("allowMultipleAllocations", f"{multiple!r} is not a boolean")
    return Device(
        name=_text(manifest.get("name", "device"), "name"),
        driver=_text(manifest.get("driver"), "driver"),
        device_class=manifest.get("deviceClassName"),
        count=count,
        claim=ClaimKind(claim),
        attributes=tuple(_attributes(_object(manifest, "attributes"))),
        capacity=tuple(_capacity(_object(manifest, "capacity"))),
        allow_multiple_allocations=bool(multiple),
    )


def problems(device: Device) -> tuple[str, ...]:
    """Return why Kubernetes could not evaluate selectors on a device; each text names the field and the value."""
    found = [*_driver_problems(device.driver)]
    for attribute in device.attributes:
        where = f"attributes[{attribute.name}]"
        found += _name_problems(where, attribute.name)
        found += _attribute_problems(where, attribute)
    for name, text in device.capacity:
        where = f"capacity[{name}]"
        found += _name_problems(where, name)
        try:
            quantity.parse(text)
        except QuantityError as error:
            found.append(f"{where}: {error}{spell_quantity(text)}")
    found += _duplicates("attributes", device.driver, [attribute.name for attribute in device.attributes])
    found += _duplicates("capacity", device.driver, [name for name, _ in device.capacity])
    return tuple(found)


def weigh_device(device: Device) -> int:
    """Return an upper estimate of the bytes that a device keeps alive, much faster than weighing it exactly."""
    texts = [device.name, device.driver, device.device_class or ""]
    for attribute in device.attributes:
        texts += (attribute.name, attribute.type, str(attribute.value))
    for name, amount in device.capacity:
        texts += (name, amount)
    return 384 + 96 * (len(device.attributes) + len(device.capacity)) + sum(map(getsizeof, texts))


def qualified(driver: str, name: str) -> tuple[str, str]:
    """Return the domain and the identifier in the name of an attribute or capacity."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


class Subject:
    """A device as selectors see it, prepared once for all of them; threads may share it.

    `problems` are those of the device: no selector can be evaluated on one that has any.
    """

    def __init__(self, device: Device) -> None:
        self.problems = problems(device)
        self._device = device
        self._attributes = Map({})
        if not self.problems:
            attributes = [(each.name, _attribute_value(each)) for each in device.attributes]
            self._attributes = _by_domain(device.driver, attributes)
        self._value = None if device.capacity else self._with(_by_domain(device.driver, []))

    def value(self) -> Map:
        """Return a device without problems for one evaluation, with new quantities, since evaluations change them."""
        if self._value is not None:
            return self._value
        device = self._device
        capacity = [(name, quantity_value(_quantity(text), lent=True)) for name, text in device.capacity]
        return self._with(_by_domain(device.driver, capacity))

    def _with(self, capacity: Map) -> Map:
        return _map(
            {
                "driver": self._device.driver,
                "allowMultipleAllocations": self._device.allow_multiple_allocations,
                "attributes": self._attributes,
                "capacity": capacity,
            }
        )


def _by_domain(driver: str, named: list[tuple[str, Value]]) -> Map:
    domains: dict[str, dict[str, Value]] = {}
    for name, value in named:
        domain, identifier = qualified(driver, name)
        domains.setdefault(domain, {})[identifier] = value
    # In Kubernetes an unknown domain is an empty map.
    return _map({domain: _map(values) for domain, values in domains.items()}, default=Map({}))


def _map(values: dict[str, Value], **default: Value) -> Map:
    return Map({key: (key, value) for key, value in values.items()}, **default)


def _attribute_value(attribute: Attribute) -> Value:
    return _version(str(attribute.value)) if attribute.type == "version" else attribute.value


@lru_cache(maxsize=4096)
def _version(text: str) -> Semver:
    return semver.parse(text)


@lru_cache(maxsize=4096)
def _quantity(text: str) -> Quantity:
    return quantity.parse(text)


def _object(manifest: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    found = manifest.get(field)
    if found is None:
        return {}
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise DeviceError(field, "is not an object")
    return found


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise DeviceError(field, "is missing" if value is None else f"{value!r} is not a string")
    return value


def _attributes(declared: Mapping[str, Any]) -> Iterator[Attribute]:
    for name in sorted(declared):
        where = f"attributes[{name}]"
        typed: Any = declared[name]
        given: dict[Any, Any] = {}
        if isinstance(typed, Mapping):
            given = {kind: value for kind, value in typed.items() if value is not None}
        if len(given) != 1 or not given.keys() <= _TYPES.keys():
            raise DeviceError(where, "does not have exactly one of string, bool, int and version")
        kind, value = next(iter(given.items()))
        exact = type(value) is _TYPES[kind]
        if not exact or (kind == "int" and not INT_MIN <= value <= INT_MAX):
            raise DeviceError(where, f"{value!r} is not of type {kind}")
        yield Attribute(name, kind, value)


def _capacity(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in sorted(declared):
        typed = declared[name]
        value = typed.get("value") if isinstance(typed, Mapping) else None
        if not isinstance(value, str):
            raise DeviceError(f"capacity[{name}]", "does not have a value that is a string")
        yield name, value


def _driver_problems(driver: str) -> Iterator[str]:
    if not _is_domain(driver):
        yield f"driver: {driver!r} is not a DNS name of at most {_MAX_DOMAIN} characters"


def _name_problems(where: str, name: str) -> Iterator[str]:
    domain, slash, identifier = name.partition("/")
    if slash and not _is_domain(domain):
        yield f"{where}: {domain!r} is not a DNS name of at most {_MAX_DOMAIN} characters"
    identifier = identifier if slash else name
    if len(identifier) > _MAX_IDENTIFIER or not _IDENTIFIER.fullmatch(identifier):
        yield f"{where}: {identifier!r} is not an identifier of at most {_MAX_IDENTIFIER} letters, digits and _"


def _is_domain(name: str) -> bool:
    return len(name) <= _MAX_DOMAIN and _SUBDOMAIN.fullmatch(name.lower()) is not None


def _attribute_problems(where: str, attribute: Attribute) -> Iterator[str]:
    if attribute.type == "version":
        try:
            semver.parse(str(attribute.value))
        except SemverError as error:
            yield f"{where}: not a semantic version: {error}{spell_version(str(attribute.value))}"
    if isinstance(attribute.value, str) and not attribute.value.isascii():
        try:
            attribute.value.encode()
        except UnicodeEncodeError:
            yield f"{where}: {attribute.value!r} is not valid Unicode"


def _duplicates(field: str, driver: str, names: list[str]) -> Iterator[str]:
    qualified = {name for name in names if "/" in name}
    for name in names:
        if f"{driver}/{name}" in qualified:
            yield f"{field}[{name}]: {name!r} and '{driver}/{name}' are both given"
