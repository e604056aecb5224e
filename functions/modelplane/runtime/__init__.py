"""How a function meets Crossplane: a `Request` in, a `Result` out. The only package that knows gRPC and protobuf."""
