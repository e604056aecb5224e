"""Whether the kinds of others exist on the control cluster, by their schemas and their definitions."""

from typing import Any

import pytest

from modelplane.composing.requirements import CERTIFICATE_KINDS, definitions, missing_kinds
from modelplane.step import Object, Request

SCHEMA = {"cert-manager": {"type": "object"}}
NO_SCHEMA: dict[str, Any] = {"cert-manager": None}


def definition(*, established: str = "True", version: str = "v1", served: bool = True) -> dict[str, Any]:
    return {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "issuers.cert-manager.io"},
        "spec": {"versions": [{"name": "v1alpha2", "served": True}, {"name": version, "served": served}]},
        "status": {"conditions": [{"type": "Established", "status": established}]},
    }


def asked(schemas: dict[str, Any], **required: tuple[dict[str, Any], ...]) -> Request:
    found = {name.replace("_", "-"): tuple(Object(body, object()) for body in one) for name, one in required.items()}
    return Request(Object({}, object()), schemas=schemas, required=found)


#: What Crossplane has answered, and whether the kind exists: None while that is not known.
ANSWERS: dict[str, tuple[Request, bool | None]] = {
    "nothing yet": (asked({}), None),
    "a schema": (asked(SCHEMA), True),
    "no schema, its definition not fetched": (asked(NO_SCHEMA), None),
    "neither schema nor definition": (asked(NO_SCHEMA, definition_cert_manager=()), False),
    "an older schema than its definition": (asked(NO_SCHEMA, definition_cert_manager=(definition(),)), True),
    "not established": (asked(NO_SCHEMA, definition_cert_manager=(definition(established="False"),)), False),
    "of another version": (asked(NO_SCHEMA, definition_cert_manager=(definition(version="v2"),)), False),
    "no longer served": (asked(NO_SCHEMA, definition_cert_manager=(definition(served=False),)), False),
}


@pytest.mark.parametrize(("request_", "exists"), ANSWERS.values(), ids=ANSWERS)
def test_a_kind_exists_that_has_a_schema_or_an_established_definition(request_: Request, exists: bool | None) -> None:
    missing = missing_kinds(request_, CERTIFICATE_KINDS)
    assert (missing if missing is None else not missing) is exists


def test_definitions_are_asked_for_of_kinds_without_a_schema_alone() -> None:
    asks = [definitions(asked(found), CERTIFICATE_KINDS) for found in ({}, SCHEMA, NO_SCHEMA)]
    assert [[(one.kind, one.match_name) for one in each] for each in asks] == [
        [],
        [],
        [("CustomResourceDefinition", "issuers.cert-manager.io")],
    ]
