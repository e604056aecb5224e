"""A control cluster, asked through kubectl: with its credentials, contexts and rights, and none of our own.

Exception
└── LiveError          the control cluster cannot be asked; the text is what kubectl or the server said, whole
    ├── KubectlError   kubectl is not installed, or failed
    └── ServerError    the API server refused a request: `status` and what it said
"""

from modelplane.live.errors import KubectlError, LiveError, ServerError
from modelplane.live.kubectl import Access, Kubectl
from modelplane.live.listing import Listing, Resource, Rights, list_objects
from modelplane.live.server import Server, Watchable, open_server

__all__ = [
    "Access",
    "Kubectl",
    "KubectlError",
    "Listing",
    "LiveError",
    "Resource",
    "Rights",
    "Server",
    "ServerError",
    "Watchable",
    "list_objects",
    "open_server",
]
