"""The yardstick: a bare function on the function SDK's own server that returns messages it was given beforehand.

`python -m bench.yardstick ADDRESS FILE...`: a request whose tag is N gets the response in the Nth file. What it costs
is what any function written with the SDK pays for these messages before it has done a thing.
"""

import asyncio
import sys
from pathlib import Path

import grpc  # type: ignore[import-untyped]
from crossplane.function import runtime
from crossplane.function.proto.v1 import run_function_pb2 as sdk
from crossplane.function.proto.v1 import run_function_pb2_grpc as stubs

_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Echo(stubs.FunctionRunnerServiceServicer):
    """Answers by the request's tag."""

    def __init__(self, responses: list[sdk.RunFunctionResponse]) -> None:
        self._responses = responses

    async def RunFunction(  # noqa: N802 - gRPC's name
        self, req: sdk.RunFunctionRequest, _context: grpc.aio.ServicerContext
    ) -> sdk.RunFunctionResponse:
        """Return the response that the tag names."""
        return self._responses[int(req.meta.tag)]


if __name__ == "__main__":
    asyncio.set_event_loop(asyncio.new_event_loop())
    address, *files = sys.argv[1:]
    answers = [sdk.RunFunctionResponse.FromString(Path(file).read_bytes()) for file in files]
    runtime.serve(Echo(answers), address, creds=None, insecure=True, options=_UNLIMITED)
