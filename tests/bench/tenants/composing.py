"""Cases whose cost is in composing: words, variables, Secrets, Objects."""

from bench.tenants.table import Case

CASES: tuple[Case, ...] = ()
