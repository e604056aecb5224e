"""The InferenceGateway: the public gateway, its listeners, the fleet URL, the router and the CA."""
