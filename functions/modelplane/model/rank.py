"""The rank of a cluster among those that take a replica, by which the scheduler chooses, and what it chose between."""

from fractions import Fraction
from typing import NamedTuple


class Rank(NamedTuple):
    """The rank of a cluster: the smallest is the one to place on. Fields are compared in their order."""

    #: When it was found full, 0 where it was not.
    full: int
    #: The position of the profile that it hosts, the best of the deployment is 0.
    profile: int
    #: Whether the replica takes a part of a node that only a gang could use whole.
    part: bool
    #: Replicas of this deployment on it.
    present: int
    #: How capable the devices that the replica takes are, by their memory in bytes; (True, 0) where it is not known.
    capable: tuple[bool, Fraction]
    #: Minus the number of such replicas that it has room for, 0 where it is not known.
    no_room: int
    #: A hash of the names.
    tie: str
    cluster: str


class Choice(NamedTuple):
    """How the cluster of a new replica was chosen."""

    best: Rank
    #: The rank of the next cluster, None if no other takes the replica.
    second: Rank | None
    #: The names of the deployment's profiles, in order.
    profiles: tuple[str, ...]
    #: Whether all candidates were ranked, not only those that were read.
    of_all: bool
