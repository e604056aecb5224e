"""Composes a ServingStack: the Releases of a cluster's serving stack, and what tells whether they run.

Nothing that was composed is ever left out. Its Releases are without the policy Delete, so that what they have installed
serves on when the ServingStack is deleted, and a cluster that does not answer holds nothing back.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.api.servingstack import ServingStackSpec
from modelplane.compose_cluster.helm_provider import KINDS, Unusable, requirements, unusable
from modelplane.compose_cluster.stack_inventory import inventory_bodies, unusable_inventory
from modelplane.compose_cluster.stack_observation import (
    INVENTORY_PART,
    RELEASE,
    Reach,
    observe,
    observers,
    release_resource,
)
from modelplane.composing.hold import held_result, hold_all
from modelplane.composing.messages import sentences
from modelplane.kube.charts import values_of, wrong_settings
from modelplane.kube.object import OWN_CONFIG
from modelplane.kube.provider_config import OF_PROVIDER, control_cluster_config, secret_key
from modelplane.kube.release import helm_config, release
from modelplane.model.conditions import Condition, Reason, StackCondition, Status
from modelplane.model.names import OBSERVE_ONLY, provider_config
from modelplane.model.observation import Malformed
from modelplane.observed.strict import read_strictly
from modelplane.stack import (
    CHARTS,
    PARTS,
    Action,
    Asked,
    Chart,
    Found,
    Origin,
    Part,
    PartVerdict,
    StackObservation,
    State,
    Verdicts,
    decide,
)
from modelplane.stack.overrides import wrong_values
from modelplane.stack.values import routes_to_pools, without_pools
from modelplane.step import ALONE, AWAITING, SETTLED, Desired, Manifest, Request, Result

#: Composition resource name of the ProviderConfig of provider-helm.
_CONFIG: Final = "helm-config"
#: That of the ProviderConfig of provider-kubernetes for the control cluster.
_OWN_CONFIG: Final = "kubernetes-config"
#: Cloud identities by which the pinned provider-helm reaches a cluster.
_IDENTITIES: Final = frozenset(
    {"GoogleApplicationCredentials", "AzureServicePrincipalCredentials", "AzureWorkloadIdentityCredentials"}
)
_SETTLED: Final = frozenset({State.RUNNING, State.PRESENT})
_REASONS: Final = {State.FAILED: Reason.PART_FAILED, State.MISSING: Reason.PART_MISSING}
#: Longest message of a part in the status.
_LONGEST: Final = 1024


def asked_of(spec: ServingStackSpec) -> dict[Part, Asked]:
    """Return how each part is to be handled; one that is neither set nor installed by default is left out.

    On the control cluster, which runs no engines, none is installed by default.
    """
    chosen = spec.parts.model_dump(exclude_none=True) if spec.parts else {}
    defaults = {part: Asked.MANAGED for part, facts in PARTS.items() if facts.by_default and spec.kubeconfig}
    return defaults | {part: Asked(chosen[part]) for part in PARTS if part in chosen}


def compose(request: Request) -> Result:
    """Return what is composed for a cluster's stack; what exists is held if the spec or the provider is unusable."""
    spec = read_strictly(ServingStackSpec, request.composite)
    if isinstance(spec, Malformed):
        return held_result(request, _not_ready(Reason.INSTALLING, str(spec)))
    return _compose(request, spec)


def _compose(request: Request, spec: ServingStackSpec) -> Result:
    engines = spec.kubeconfig is not None
    seen, asked = observe(request, engines=engines), asked_of(spec)
    verdicts = unusable_inventory(decide(asked, seen, observe_only=bool(spec.observeOnly)))
    needed = _asks_for_charts(asked) or bool(seen.releases)
    found = unusable(request) if needed else None
    blocked = found or _unsuitable(spec, asked)
    bodies = _held(request, observe_only=bool(spec.observeOnly))
    config = provider_config(spec.clusterName)
    reach = Reach(config) if engines else Reach(config, OWN_CONFIG)
    if not engines:
        bodies[_OWN_CONFIG] = control_cluster_config(config)
    charts = tuple(chart for name, (_, chart) in CHARTS.items() if _is_installed(name, verdicts, seen))
    shown = {part: seen.shows(part) is Found.THERE for part in asked}
    bodies |= observers(reach, shown, charts, engines=engines)
    may_install = engines and not spec.observeOnly and not wrong_values(spec.values or {})
    if asked.get(Part.INVENTORY) is Asked.MANAGED and may_install:
        bodies |= inventory_bodies(reach, spec)
    if not blocked:
        values = {name: _values(spec, asked, part, chart) for name, (part, chart) in CHARTS.items()}
        bodies |= _releases(spec, config, values, verdicts, seen)
    condition = _condition(verdicts, blocked)
    done = condition.status is Status.TRUE and not condition.message
    return Result(
        desired={name: Desired.of(body, ready=name in request.observed) for name, body in bodies.items()},
        status=_status(verdicts),
        conditions=(condition,),
        requirements=requirements(request) if needed else (),
        schemas=KINDS if needed else (),
        ttl=ALONE if done else AWAITING if blocked else SETTLED,
        ready=condition.status is Status.TRUE,
        fatal=found.message if found and found.lost else None,
        cacheable=True,
    )


def _held(request: Request, *, observe_only: bool) -> dict[str, Manifest]:
    """Return all that was composed, held; with `observe_only` a Release changes nothing on the cluster."""
    kept = hold_all(request)
    if not observe_only:
        return kept
    only = {"managementPolicies": list(OBSERVE_ONLY)}
    return {
        name: {**body, "spec": {**body["spec"], **only}} if name.startswith((RELEASE, INVENTORY_PART)) else body
        for name, body in kept.items()
    }


def _is_installed(chart: str, verdicts: Verdicts, seen: StackObservation) -> bool:
    """Tell whether the workloads of a chart are Modelplane's, and so known by name."""
    found = seen.release(chart)
    return verdicts.charts[chart].action is Action.INSTALL or bool(found and found.found is Found.THERE)


def _values(spec: ServingStackSpec, asked: Mapping[Part, Asked], part: Part, chart: Chart) -> dict[str, Any]:
    """Return the values of a chart: those of the cluster's own are for the last chart of their part."""
    own = (spec.values or {}).get(part) if chart is PARTS[part].charts[-1] else None
    alone = not any(facts.set_up_in is part for other, facts in PARTS.items() if other in asked)
    return values_of(chart, own, alone=alone)


def _releases(
    spec: ServingStackSpec,
    config: str,
    values: Mapping[str, dict[str, Any]],
    verdicts: Verdicts,
    seen: StackObservation,
) -> dict[str, Manifest]:
    """Return the Releases with the `values` of each chart by name, and the ProviderConfig that they need."""
    releases = {
        release_resource(chart): release(
            chart,
            config=config,
            # Other values a moment later would be another revision.
            install=verdict.action is Action.INSTALL and not (seen.pools is None and routes_to_pools(values[name])),
            values=values[name] if seen.pools else without_pools(values[name]),
        )
        for name, (_, chart) in CHARTS.items()
        if (verdict := verdicts.charts[name]).action is not Action.NONE
    }
    if not releases:
        return {}
    credentials = secret_key(spec.kubeconfig.name, spec.kubeconfig.key) if spec.kubeconfig else dict(OF_PROVIDER)
    identity: dict[str, Any] | None = None
    if spec.identity:
        identity = {"type": spec.identity.type, **secret_key(spec.identity.name, spec.identity.key)}
    return {_CONFIG: helm_config(config, credentials=credentials, identity=identity), **releases}


def _asks_for_charts(asked: Mapping[Part, Asked]) -> bool:
    return any(how is Asked.MANAGED and PARTS[part].charts for part, how in asked.items())


def _unsuitable(spec: ServingStackSpec, asked: Mapping[Part, Asked]) -> Unusable | None:
    """Return why no Release can be made with the present settings, None if they can."""
    if wrong := wrong_values(spec.values or {}):
        return Unusable(Reason.INSTALLING, wrong)
    if not _asks_for_charts(asked):
        return None
    if wrong := wrong_settings():
        return Unusable(Reason.INSTALLING, wrong)
    if spec.identity and spec.identity.type not in _IDENTITIES:
        cause = f"provider-helm reaches no cluster by the identity {spec.identity.type}"
        remedy = "Install the parts yourself, and set each of spec.stack to Present"
        return Unusable(Reason.INSTALLING, sentences(cause, remedy))
    return None


def _not_ready(reason: Reason, message: str) -> Condition:
    return Condition(StackCondition.PARTS_READY, Status.FALSE, reason, message)


def _condition(verdicts: Verdicts, blocked: Unusable | None) -> Condition:
    """Return PartsReady: whether every part runs; of those that engines do not need only the message says."""
    ordered = sorted(verdicts.parts, key=_urgency)
    words = sentences(*_said(ordered))
    if blocked:
        return _not_ready(blocked.reason, sentences(blocked.message, words))
    late = [each for each in ordered if each.state not in _SETTLED and PARTS[each.part].serves]
    if not late:
        return Condition(StackCondition.PARTS_READY, Status.TRUE, Reason.PARTS_RUNNING, words)
    names = ", ".join(PARTS[each.part].title for each in late)
    return _not_ready(_REASONS.get(late[0].state, Reason.INSTALLING), words or f"waiting for {names}")


def _said(ordered: Sequence[PartVerdict]) -> list[str]:
    """Return the message of each part, once for those that have the same."""
    titles: dict[str, list[str]] = {}
    for each in ordered:
        titles.setdefault(each.message, []).append(PARTS[each.part].title)
    return [f"{', '.join(found)}: {message}" for message, found in titles.items() if message]


def _urgency(verdict: PartVerdict) -> tuple[bool, bool, bool]:
    """Return by what parts are sorted: first what fails, and what engines need."""
    return verdict.state in _SETTLED, not PARTS[verdict.part].serves, verdict.state not in _REASONS


def _status(verdicts: Verdicts) -> dict[str, Any]:
    serves = verdicts.serves
    parts = [_row(each) for each in verdicts.parts]
    return {"parts": parts} | ({} if serves is None else {"serves": serves})


def _row(verdict: PartVerdict) -> dict[str, Any]:
    origin: Origin | None = verdict.origin
    fields = {
        "name": str(verdict.part),
        "state": str(verdict.state),
        "origin": str(origin) if origin else "",
        "version": verdict.version,
        "message": verdict.message[:_LONGEST],
    }
    return {field: value for field, value in fields.items() if value}
