"""Objects of the control cluster's gateway: Gateway API's, and Envoy Gateway's beside them."""
