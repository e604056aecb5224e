"""The run time of the functions: requests in, responses out; the only package that knows gRPC and protobuf."""

from modelplane.runtime.call import run

__all__ = ["run"]
