"""What the steps of a pass have decided so far: each step returns it with its own part filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from modelplane.model.placement import HeldEdit, Placement
from modelplane.model.refusal import Refusal
from modelplane.scheduling.steps.own_pools import InPlace
from modelplane.scheduling.steps.roster import OwnReplica

#: Why candidates take no other replica on a profile: by profile, then by cluster.
Refused = Mapping[str, Mapping[str, Refusal]]


@dataclass(frozen=True, slots=True)
class Filled:
    """What filling missing replicas places, and which clusters have to be read before that is exact."""

    placed: tuple[Placement, ...]
    refused: Refused
    #: Clusters that were chosen by what they publish: the placements only guess which ones to read.
    unread: tuple[str, ...] = ()
    #: Clusters that rank next.
    spares: tuple[str, ...] = ()
    #: Clusters whose refusal has to be exact.
    doubted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a pass; what it decided about a present replica is in its `OwnReplica`."""

    #: `retain`: what the own pools of a replica can host, where its edit waits or takes more than it has.
    in_place: Mapping[OwnReplica, InPlace] = field(default_factory=dict)
    #: `retain`: those whose edit takes more and does not wait for the rollout: `grow` applies it where it fits.
    growing: tuple[OwnReplica, ...] = ()
    #: `grow`, `give_way`, `roll`: the edits that do not fit, by the identity of the replica.
    held_edits: Mapping[str, HeldEdit] = field(default_factory=dict)
    #: `place`, `roll`: the new replicas.
    placed: tuple[Placement, ...] = ()
    #: `place`: why each candidate takes none of the replicas that are missing, on the best profile.
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    #: `place`, `roll`, `reconsider`: why no candidate takes another replica on a profile of a ClusterModel.
    profile_refusals: Refused = field(default_factory=dict)
    #: `place`: the same as text, for profiles that an earlier call checked with more candidates in view.
    why: Mapping[str, str] = field(default_factory=dict)
    #: `place`: every candidate was asked, and none has room beyond what was placed.
    checked: bool = False
    #: `place`: the candidates that could not be asked, each with why.
    unasked: Mapping[str, Refusal] = field(default_factory=dict)
    #: `roll`: the next outdated replica found no place beside the others.
    no_room: bool = False
    #: `roll`: it found none because a response cannot carry another replica.
    too_large: bool = False
    #: `roll`: why no candidate took the first replica that found no place.
    surge_refusals: Refused = field(default_factory=dict)
    #: `reconsider`: how many replicas could run on each profile that is better than theirs.
    improvable: Mapping[str, int] = field(default_factory=dict)
