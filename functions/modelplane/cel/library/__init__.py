"""The functions that selectors may call, and the names of those that Kubernetes has and this engine lacks."""

from modelplane.cel.library import (  # noqa: F401 (importing declares their functions)
    conversions,
    lists,
    operators,
    optionals,
    patterns,
    quantities,
    text,
    versions,
)
from modelplane.cel.library.registry import FUNCTIONS, Function, Overload

#: Names that Kubernetes knows: refused with a message of their own, so that a user does not look for a typing error.
NOT_SUPPORTED = frozenset(
    {
        *("timestamp", "duration", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear"),
        *("getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds"),
        *("url", "isURL", "getEscapedPath", "getHost", "getHostname", "getPort", "getQuery", "getScheme"),
        *("ip", "isIP", "family", "isCanonical", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
        *("isLinkLocalUnicast", "isGlobalUnicast", "ip.isCanonical", "cidr", "isCIDR", "containsIP", "containsCIDR"),
        *("masked", "prefixLength", "format", "format.named", "validate", "path", "group", "serviceAccount"),
        *("sortBy", "optional.unwrap", "unwrapOpt", "@sortByAssociatedKeys"),
        *(f"format.{kind}" for kind in ("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName")),
        *(f"format.{kind}" for kind in ("dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix")),
        *(f"format.{kind}" for kind in ("labelValue", "uri", "uuid", "byte", "date", "datetime")),
    }
)

__all__ = ["FUNCTIONS", "NOT_SUPPORTED", "Function", "Overload"]
