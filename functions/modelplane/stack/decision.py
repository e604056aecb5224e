"""What is installed of a serving stack, and the state of each part, in view of what is observed: a pure function.

- Nothing is installed over what somebody else has installed. A part is somebody else's if the cluster shows it before
  Modelplane has a release of its charts, and stays so after it is gone. Nothing is decided before both are known.
- A chart is installed once those that it needs run. After that it is kept, whatever happens to them.
- What has been composed once is composed again: `Action.NONE` is only for charts that have no Release.
"""

from collections.abc import Mapping
from typing import Final

from modelplane.stack import wording
from modelplane.stack.observation import Asked, Found, Origin, ReleaseState, StackObservation
from modelplane.stack.parts import CHARTS, PARTS, Chart, Part
from modelplane.stack.releases import is_deployed, problem
from modelplane.stack.verdict import ORDER, Action, ChartVerdict, PartVerdict, State, Verdicts
from modelplane.stack.workloads import Pods, judge

#: What is shown of a part that Modelplane has not installed.
_SHOWN: Final = {
    Found.THERE: (State.PRESENT, True),
    Found.ABSENT: (State.MISSING, False),
    Found.UNKNOWN: (State.UNKNOWN, None),
}


def decide(asked: Mapping[Part, Asked], seen: StackObservation, *, observe_only: bool = False) -> Verdicts:
    """Return the verdicts. Parts that are left out of `asked` are not installed; with `observe_only`, none is."""
    origins = {part: _origin(part, asked.get(part), seen, observe_only=observe_only) for part in PARTS}
    charts: dict[str, ChartVerdict] = {}
    for name, (part, chart) in CHARTS.items():
        handled, origin = asked.get(part), origins[part]
        if handled is Asked.MANAGED and origin is Origin.MODELPLANE:
            waits = _waits(part, chart, charts)
            charts[name] = _ours(part, chart, seen, waits, observe_only=observe_only)
        elif handled is Asked.MANAGED and origin is None:
            waits = _waits(part, chart, charts)
            base = PARTS[part].set_up_in
            if base and origins[base] is Origin.OTHER and seen.shows(part) is Found.ABSENT:
                charts[name] = ChartVerdict(_kept(chart, seen), State.MISSING, wording.not_set_up(part), runs=False)
            else:
                charts[name] = _new(part, chart, seen, waits, observe_only=observe_only)
        else:
            charts[name] = _left_alone(part, chart, handled, origin, seen)
    parts = tuple(
        _together(
            part,
            origins[part],
            [charts[chart.name] for chart in facts.charts] or [_without_charts(part, seen, observe_only=observe_only)],
            seen,
        )
        for part, facts in PARTS.items()
        if part in asked or origins[part] is Origin.MODELPLANE
    )
    return Verdicts(parts, charts)


def _origin(part: Part, asked: Asked | None, seen: StackObservation, *, observe_only: bool) -> Origin | None:
    """Return who has installed a part, None while nobody has or it is not known.

    With `observe_only` that is what was recorded before: what is seen may be on another cluster.
    """
    if observe_only or (PARTS[part].own and asked is not Asked.MANAGED):
        return seen.origins.get(part)
    releases = [seen.release(chart.name) for chart in PARTS[part].charts]
    recorded = seen.origins.get(part)
    if recorded is Origin.MODELPLANE or PARTS[part].own or any(each and each.may_install for each in releases):
        return Origin.MODELPLANE
    # A release that is seen may still be that of another cluster, where the kubeconfig led until now.
    if recorded is Origin.OTHER and asked is Asked.MANAGED:
        return recorded
    if any(each and each.found is Found.THERE for each in releases):
        return Origin.MODELPLANE
    # Present is the user's word that it is not Modelplane's, and Managed afterwards that it may become so.
    if asked is not Asked.MANAGED:
        return None
    unclaimed = all(each and each.found is Found.ABSENT for each in releases)
    return Origin.OTHER if unclaimed and seen.shows(part) is Found.THERE else None


def _waits(part: Part, chart: Chart, earlier: Mapping[str, ChartVerdict]) -> tuple[str, ...]:
    """Return what a chart of a part waits for: the titles of other parts, and the names of charts of its own."""
    late = (name for name in chart.after if earlier[name].runs is not True)
    named = ((CHARTS[name][0], f"chart {name}") for name in late)
    return tuple(dict.fromkeys(own if other is part else PARTS[other].title for other, own in named))


def _kept(chart: Chart, seen: StackObservation) -> Action:
    """Return the action that installs nothing and removes nothing."""
    return Action.OBSERVE if seen.release(chart.name) else Action.NONE


def _left_alone(
    part: Part, chart: Chart, asked: Asked | None, origin: Origin | None, seen: StackObservation
) -> ChartVerdict:
    """Return the verdict on a chart of a part that Modelplane is not to install."""
    shown = seen.shows(part)
    state, runs = _SHOWN[shown]
    if shown is Found.ABSENT:
        gone = origin is Origin.OTHER
        message = wording.gone(part) if gone else wording.missing(part, chart) if asked else ""
        return ChartVerdict(_kept(chart, seen), state, message, runs)
    message = wording.not_updated(part) if origin is Origin.MODELPLANE else ""
    return ChartVerdict(_kept(chart, seen), state, message, runs)


def _new(
    part: Part, chart: Chart, seen: StackObservation, waits: tuple[str, ...], *, observe_only: bool
) -> ChartVerdict:
    """Return the verdict on a chart of a part that nobody has installed, as far as is known."""
    release, shown = seen.release(chart.name), seen.shows(part)
    if observe_only:
        # The cluster of another InferenceCluster, which installs it; or another cluster than before.
        state, runs = _SHOWN[shown]
        message = wording.of_another(part) if state is State.MISSING else ""
        return ChartVerdict(_kept(chart, seen), state, message, runs)
    releases = [seen.release(each.name) for each in PARTS[part].charts]
    if shown is Found.UNKNOWN or any(each is None or each.found is not Found.ABSENT for each in releases):
        error = release.error if release else ""
        return ChartVerdict(Action.OBSERVE, State.UNKNOWN, error, None)
    if seen.kubernetes is not Found.THERE:
        message = wording.KUBERNETES if seen.kubernetes is Found.ABSENT else ""
        return ChartVerdict(Action.OBSERVE, State.WAITING, message, runs=False)
    if waits:
        return ChartVerdict(Action.OBSERVE, State.WAITING, wording.waits(waits), runs=False)
    return ChartVerdict(Action.INSTALL, State.INSTALLING, "", runs=False)


def _ours(
    part: Part, chart: Chart, seen: StackObservation, waits: tuple[str, ...], *, observe_only: bool
) -> ChartVerdict:
    """Return the verdict on a chart of a part that Modelplane has begun to install."""
    release = seen.release(chart.name) or ReleaseState()
    begun = release.may_install or release.found is Found.THERE
    action = Action.INSTALL if (begun or not waits) and not observe_only else Action.OBSERVE
    pods = judge(chart.workloads, chart.namespace, seen.workloads)
    runs = _runs(part, chart, release, pods, seen)
    if failure := problem(chart, release):
        return ChartVerdict(action, State.FAILED, wording.failed(part, failure), runs)
    if not begun and waits:
        return ChartVerdict(action, State.WAITING, wording.waits(waits), runs)
    if is_deployed(release) and pods.stalled:
        return ChartVerdict(action, State.FAILED, pods.message, runs)
    if is_deployed(release) and (pods.complete or not chart.workloads):
        message = wording.not_changed(chart, release) or pods.message
        return ChartVerdict(action, State.RUNNING, message, runs=True)
    progress = wording.progress(chart, release, pods.message)
    state = State.UNKNOWN if runs is None and not progress else State.INSTALLING
    return ChartVerdict(action, state, progress, runs)


def _runs(part: Part, chart: Chart, release: ReleaseState, pods: Pods, seen: StackObservation) -> bool | None:
    """Tell whether what a chart installs can be used; one without pods can once the cluster shows its part."""
    if chart.workloads:
        return pods.runs
    if is_deployed(release) or seen.shows(part) is Found.THERE:
        return True
    return None if Found.UNKNOWN in (release.found, seen.shows(part)) else False


def _without_charts(part: Part, seen: StackObservation, *, observe_only: bool) -> ChartVerdict:
    """Return the verdict on a part without charts: on the pods of one of Modelplane's own, others are looked for."""
    own = PARTS[part].own
    if own and not observe_only:
        pods = judge((own,), own.name, seen.workloads)
        state = State.FAILED if pods.stalled else State.RUNNING if pods.complete else State.INSTALLING
        return ChartVerdict(Action.NONE, state, "" if pods.complete else pods.message, pods.runs)
    state, runs = _SHOWN[seen.shows(part)]
    if own:
        return ChartVerdict(Action.NONE, state, wording.of_another(part) if state is State.MISSING else "", runs)
    return ChartVerdict(Action.NONE, state, wording.missing(part, None) if state is State.MISSING else "", runs)


def _together(part: Part, origin: Origin | None, charts: list[ChartVerdict], seen: StackObservation) -> PartVerdict:
    """Return the verdict on a part from those on its charts."""
    worst = min(charts, key=lambda each: ORDER.index(each.state))
    runs = [each.runs for each in charts]
    versions = (seen.release(chart.name) for chart in PARTS[part].charts)
    version = next((each.version for each in versions if each and each.version), "")
    return PartVerdict(
        part=part,
        state=worst.state,
        message=worst.message,
        runs=False if False in runs else None if None in runs else True,
        origin=origin,
        version=version if origin is Origin.MODELPLANE else "",
    )
