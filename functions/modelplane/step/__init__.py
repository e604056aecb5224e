"""The contract of a step, `Request -> Result`, pure: no gRPC, no protobuf; the server and the preview run the same."""

from modelplane.step.contract import (
    ALONE,
    AWAITING,
    RESPONSE_LIMIT,
    SETTLED,
    Desired,
    Event,
    Manifest,
    Object,
    Request,
    Requirement,
    Result,
    SchemaRequirement,
    Severity,
    Step,
)

__all__ = [
    "ALONE",
    "AWAITING",
    "RESPONSE_LIMIT",
    "SETTLED",
    "Desired",
    "Event",
    "Manifest",
    "Object",
    "Request",
    "Requirement",
    "Result",
    "SchemaRequirement",
    "Severity",
    "Step",
]
