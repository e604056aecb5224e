"""The list of the models that the fleet URL serves, and how a client reads one of them by its name.

One filter of a route answers with the whole list. The text of the other, in Lua, does not change with it: that would be
another filter of the listener, whose older streams would be closed after the drain time.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.kube.gateway.answers import answers_filter
from modelplane.kube.gateway.filters import error_body
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.model.names import HEADER_MODEL

#: Path of the list; that of a model is below it.
MODELS_PATH: Final = "/v1/models"
_UNKNOWN: Final = error_body(
    404,
    "There is no such model in the list. Services that need a key are not in it: to see what one serves, request the "
    f"list with its key and the header {HEADER_MODEL}: <namespace>/<service>.",
    "model_not_found",
)
_NO_BODY: Final = error_body(405, "Read a model with GET.", "method_not_allowed")
#: A request without a body has no list to read the model from: HEAD is for the list alone.
_SELECT: Final = f"""
function envoy_on_request(handle)
  local id = string.match(handle:headers():get(':path') or '', '^{MODELS_PATH}/([^?]*)')
  if not id then return end
  if handle:headers():get(':method') == 'HEAD' then
    local headers = {{[':status'] = '405', ['content-type'] = 'application/json', ['allow'] = 'GET'}}
    return handle:respond(headers, [==[{_NO_BODY}]==])
  end
  handle:streamInfo():dynamicMetadata():set('modelplane', 'model', id)
end
function envoy_on_response(handle)
  local id = (handle:streamInfo():dynamicMetadata():get('modelplane') or {{}})['model']
  if not id then return end
  local body = handle:body()
  local list = body:getBytes(0, body:length())
  local first = string.find(list, '{{"id":"' .. id .. '",', 1, true)
  local found = first and string.sub(list, first, string.find(list, '}}', first, true))
  local length = body:setBytes(found or [==[{_UNKNOWN}]==])
  handle:headers():replace('content-length', tostring(length))
  if not found then handle:headers():replace(':status', '404') end
end
"""


@dataclass(frozen=True, slots=True)
class FleetModel:
    """A service in the list of models: its `id`, the team's namespace, and when it was made, in seconds of Unix."""

    id: str
    namespace: str
    created: int


def list_models(models: Sequence[FleetModel]) -> str:
    """Return the body of the list. Each model is an object without objects in it, and begins with its id."""
    found = [{"id": each.id, "object": "model", "created": each.created, "owned_by": each.namespace} for each in models]
    return json.dumps({"object": "list", "data": found}, separators=(",", ":"))


def model_selection(name: str, namespace: str, route: str, passed: str) -> dict[str, Any]:
    """Return the policy by which a route that answers with the list answers with one model below the list's path."""
    lua = [{"type": "Inline", "inline": source} for source in (answers_filter(passed), _SELECT)]
    spec = {"targetRefs": [target("HTTPRoute", route)], "lua": lua}
    return envoy_object("EnvoyExtensionPolicy", name, namespace, spec)
