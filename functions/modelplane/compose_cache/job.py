"""The state of a hydration Job, from its status and the exit codes of the program that it runs."""

import re
from collections.abc import Mapping
from typing import Any

from modelplane.model.staging import HydrateExit
from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.observed.remote import Remote

#: When a Job has succeeded, as a query on the Object; `complete` is the same rule.
COMPLETE = (
    "has(object.status) && has(object.status.conditions) && "
    "object.status.conditions.exists(c, c.type == 'Complete' && c.status == 'True')"
)
_EXIT_CODE = re.compile(r"exit code (\d+)")


def _condition(job: Remote, kind: str) -> Mapping[str, Any] | None:
    """Return the condition of this type if it is True."""
    found = mappings(mapping(mapping(job.manifest).get("status")).get("conditions"))
    return next((each for each in found if each.get("type") == kind and each.get("status") == "True"), None)


def complete(job: Remote) -> bool:
    """Tell whether the Job has succeeded."""
    return _condition(job, "Complete") is not None


def failed(job: Remote) -> bool:
    """Tell whether the Job has failed and starts no further pod."""
    return _condition(job, "Failed") is not None


def idle(job: Remote) -> bool:
    """Tell whether the Job reports no unfinished pod that runs, as while its image cannot be pulled."""
    return mapping(mapping(job.manifest).get("status")).get("ready") == 0 and not complete(job)


def _meaning(message: str) -> str:
    """Return the meaning of an exit code in a Job's message, "" if it has none of `HydrateExit`."""
    code = _EXIT_CODE.search(message)
    known = {int(each): each.meaning for each in HydrateExit}
    return known.get(int(code[1]), "") if code else ""


def describe(job: Remote, name: str) -> str:
    """Return the state of the Job for users."""
    if found := _condition(job, "Failed"):
        why = ": ".join(filter(None, (text(found.get("reason")), text(found.get("message")))))
        return "; ".join(filter(None, (_meaning(why), f"Job {name} failed: {why}")))
    if job.sync_failure:
        return f"Job {name} {job.sync_failure}"
    if complete(job):
        return f"Job {name} is done; waiting for its pod to report the commit"
    status = mapping(mapping(job.manifest).get("status"))
    tries = count(status.get("failed"))
    state = "is downloading" if count(status.get("active")) and not idle(job) else "is starting"
    return f"Job {name} {state}" + (f" after {tries} failed {'try' if tries == 1 else 'tries'}" if tries else "")
