"""Write the pydantic models of our kinds and the bounds of their specs, functions/modelplane/api, from the XRDs."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from datamodel_code_generator.__main__ import main as run_generator

from modelplane_dev.folders import ROOT

Schema = dict[str, Any]

TARGET = ROOT / "functions" / "modelplane" / "api"
PACKAGE = '"""Our kinds as pydantic models, one module a kind, generated from the XRDs by `make generate`."""\n'

#: What a model keeps of a schema. Bounds and rules are the API server's business: objects that come from it were
#: checked there, and checking them again would be most of the time it takes to read a fleet.
KEPT = ("type", "enum", "default", "required")

#: How an XRD bounds the size of a value, whatever its type.
SIZES = ("maxItems", "maxLength", "maxProperties")
BOUNDS = '''\
"""The largest sizes in each kind's spec, generated from apis/ by `make generate`; edit the XRD, not this."""

from collections.abc import Mapping
from typing import Final

BOUNDS: Final[Mapping[str, Mapping[str, int]]] = {
'''

TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
METADATA: Schema = {
    "type": "object",
    "description": "Metadata of the object, as far as a function looks at it.",
    "properties": {
        **{name: {"type": "string"} for name in ("name", "namespace", "uid", "resourceVersion")},
        "generation": {"type": "integer"},
        **{name: {"type": "string"} for name in ("creationTimestamp", "deletionTimestamp")},
        **dict.fromkeys(("labels", "annotations"), TEXTS),
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "ownerReferences": {
            "type": "array",
            "items": {
                "type": "object",
                "description": "An object that this one belongs to.",
                "properties": {
                    **{name: {"type": "string"} for name in ("apiVersion", "kind", "name", "uid")},
                    **{name: {"type": "boolean"} for name in ("controller", "blockOwnerDeletion")},
                },
                "required": ["apiVersion", "kind", "name", "uid"],
            },
        },
    },
}
CONDITIONS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "description": "One condition of the object.",
        "properties": {
            **{name: {"type": "string"} for name in ("type", "status", "reason", "message", "lastTransitionTime")},
            "observedGeneration": {"type": "integer"},
        },
        "required": ["type", "status"],
    },
}


class Classes:
    """The classes of one module: every object schema under a name that its field gives it.

    Equal objects share a class (five clouds, one Credentials). Objects that only share the name of their field are told
    apart by the name of the parent in front (TemplateSpec).
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def convert(self, schema: Schema, name: str) -> Schema:
        """Return `schema` reduced to what a model keeps, its objects moved into `definitions`."""
        kept = {key: schema[key] for key in KEPT if key in schema}
        if schema.get("x-kubernetes-int-or-string"):
            kept["type"] = ["integer", "string"]
        if "items" in schema:
            kept["items"] = self.convert(schema["items"], _singular(name))
        elif "properties" in schema:
            parent = "" if name.endswith("Spec") else "Status" if name.endswith("Status") else name
            kept["properties"] = {
                key: self.convert(value, _child(key, parent)) for key, value in schema["properties"].items()
            }
            if "description" in schema:
                kept["description"] = schema["description"]
            return self._reference(kept, name)
        elif isinstance(schema.get("additionalProperties"), dict):
            kept["additionalProperties"] = self.convert(schema["additionalProperties"], _singular(name))
        return kept

    def _reference(self, schema: Schema, name: str) -> Schema:
        names = [name.replace("|", "")]
        if _short(name) not in ("Spec", "Status"):
            names.insert(0, _short(name))
        # An entry of a list may have a field of the list's own name.
        names.append(f"{names[-1]}Entry")
        for candidate in names:
            known = self.definitions.setdefault(candidate, schema)
            if _shape(known) == _shape(schema):
                return {"$ref": f"#/$defs/{candidate}"}
        raise ValueError(f"two different objects would be the class {names[-1]}")


def _child(key: str, parent: str) -> str:
    return f"{_short(parent)}|{key[0].upper()}{key[1:]}"


def _short(name: str) -> str:
    return name.rsplit("|", 1)[-1]


def _singular(name: str) -> str:
    for plural, singular in (("ies", "y"), ("ses", "s"), ("s", "")):
        if name.endswith(plural) and not name.endswith("ss"):
            return name.removesuffix(plural) + singular
    return name


def _shape(schema: Schema) -> Schema:
    """Return the object's schema without its prose."""
    return {key: value for key, value in schema.items() if key != "description"}


def model_schema(definition: Schema) -> Schema:
    """Return the JSON schema, of named classes, that the model of an XRD's kind is generated from."""
    kind = definition["spec"]["names"]["kind"]
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec, status = schema["properties"]["spec"], schema["properties"]["status"]
    status = {**status, "properties": {**status["properties"], "conditions": CONDITIONS}}
    classes = Classes()
    properties = {
        "apiVersion": {"type": "string", "default": f"{definition['spec']['group']}/v1alpha1"},
        "kind": {"type": "string", "default": kind},
        "metadata": classes.convert(METADATA, "Metadata"),
        "spec": classes.convert(spec, f"{kind}Spec"),
        "status": classes.convert(status, f"{kind}Status"),
    }
    return {
        "title": kind,
        "type": "object",
        "description": schema["description"],
        "properties": properties,
        "required": ["metadata", "spec"],
        "$defs": classes.definitions,
    }


def generate(definition: Schema, target: Path) -> Path:
    """Write the module of one XRD's kind into the folder `target` and return its path."""
    kind = definition["spec"]["names"]["kind"]
    path = target / f"{kind.lower()}.py"
    header = f'"""{kind} as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""'
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "schema.json"
        source.write_text(json.dumps(model_schema(definition)))
        arguments = (
            f"--input {source} --input-file-type jsonschema --output {path} --output-model-type pydantic_v2.BaseModel "
            "--target-python-version 3.11 --target-pydantic-version 2 --formatters builtin --disable-timestamp "
            "--use-title-as-name --use-schema-description --use-single-line-docstring --enum-field-as-literal all "
            "--use-standard-collections --use-union-operator --use-double-quotes --disable-future-imports "
            "--strict-nullable --use-default"
        ).split()
        code = run_generator([*arguments, "--custom-file-header", header])
    if code:
        raise SystemExit(f"datamodel-codegen failed on {kind} with code {code}")
    return path


def bounds(schema: Schema, path: str) -> Iterator[tuple[str, int]]:
    """Yield the sizes that bound a value and what is in it, each under its path; what holds others comes before them.

    A path goes into a list with `[]`, or with `[name]` where that field tells its entries apart, and into the values
    of a map with `{}`.
    """
    yield from ((path, schema[size]) for size in SIZES if size in schema)
    for name, child in schema.get("properties", {}).items():
        yield from bounds(child, f"{path}.{name}")
    if "items" in schema:
        key = schema.get("x-kubernetes-list-map-keys", [])
        yield from bounds(schema["items"], f"{path}[{key[0] if len(key) == 1 else ''}]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from bounds(schema["additionalProperties"], f"{path}{{}}")


def generate_bounds(definitions: list[Schema], target: Path) -> Path:
    """Write the module with the bounds of every kind's spec into the folder `target` and return its path."""
    path, lines = target / "bounds.py", [BOUNDS]
    for definition in definitions:
        spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        lines.append(f'    "{definition["spec"]["names"]["kind"]}": {{\n')
        lines += [f'        "{where}": {size},\n' for where, size in bounds(spec, "spec")]
        lines.append("    },\n")
    path.write_text("".join([*lines, "}\n"]))
    return path


def main(target: Path = TARGET) -> None:
    """Write every module, and remove those whose XRD is gone."""
    target.mkdir(parents=True, exist_ok=True)
    definitions = [yaml.safe_load(path.read_text()) for path in sorted(ROOT.glob("apis/*/definition.yaml"))]
    written = {generate(definition, target) for definition in definitions}
    written.add(generate_bounds(definitions, target))
    (target / "__init__.py").write_text(PACKAGE)
    for stale in set(target.glob("*.py")) - written - {target / "__init__.py"}:
        stale.unlink()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
