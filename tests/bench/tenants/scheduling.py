"""Cases whose cost is in placing: ways, selectors, groups, replicas written by hand."""

from bench.tenants.table import Case

CASES: tuple[Case, ...] = ()
