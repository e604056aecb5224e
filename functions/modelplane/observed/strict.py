"""Reads a spec strictly, through the model generated from its XRD, for specs of which no field may be ignored."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from modelplane.model.observation import Malformed
from modelplane.step import Object

_Model = TypeVar("_Model", bound=BaseModel)


def read_strictly(model: type[_Model], obj: Object) -> _Model | Malformed:
    """Return the object's spec, or Malformed with the first field that its XRD would refuse.

    The value is left out, because an env entry's may be a credential, and conditions, events and the log would show it.
    """
    try:
        return model.model_validate(obj.body.get("spec"), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        section = str(first["loc"][0]) if first["loc"] else ""
        return Malformed(obj.kind, obj.name, _path(first["loc"]), first["msg"], section)


def _path(parts: tuple[int | str, ...]) -> str:
    """Return pydantic's path in Kubernetes' form: `spec.engines[0].name`."""
    return "".join(["spec", *(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)])
