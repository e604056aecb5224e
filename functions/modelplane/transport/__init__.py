"""Requests in, responses out: the only package that knows gRPC, protobuf and the function SDK."""
