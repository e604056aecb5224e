"""The domain as frozen values: fleet, deployment, replica, placement, refusal. No protobuf, no YAML, no clock."""
