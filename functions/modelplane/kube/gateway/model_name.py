"""Where a request's body names the model, and the filters that put a provider's or engine's own name there; in Lua."""

from typing import Any, Final

from modelplane.kube.gateway.filters import error_body
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.model.names import HEADER_SERVED, HEADER_UNNAMED

#: Bytes of a body that are read to their end. Where the model stands in them, nothing behind them is read.
NEAR: Final = 64 * 1024
#: Steps from one part of a JSON text to the next, of which a worker of Envoy takes 8,000 in a millisecond: those of any
#: request, and those that all others of a worker share in a second. So nobody's bodies can keep a worker busy.
STEPS, SHARED_STEPS = 2_000, 1_000_000
#: Finds the value of the top-level `model` of a JSON object without parsing the rest: prompts are large. A body that
#: names it twice near its beginning, or by an escaped key, or is no object, has none. The third value says whether it
#: was given up because the steps of this second are used up.
FIND_MODEL: Final = (
    f"local NEAR, STEPS, SHARED_STEPS = {NEAR}, {STEPS}, {SHARED_STEPS}"
    r"""
local find, byte, sub = string.find, string.byte, string.sub
local left, shared, second = 0, 0, 0
local function may_step()
  left = left - 1
  if left > 0 then return true end
  local now = os.time()
  if now ~= second then second, shared = now, SHARED_STEPS end
  if shared <= 0 then return false end
  shared, left = shared - STEPS, STEPS
  return true
end
local function end_of_text(s, at)
  local p = at
  while true do
    p = find(s, '"', p + 1, true)
    if not p or not may_step() then return nil end
    local back = p - 1
    while byte(s, back) == 92 do back = back - 1 end
    if (p - back) % 2 == 1 then return p end
  end
end
local function skip_blanks(s, p)
  p = find(s, '[^ \t\r\n]', p)
  if not p then return nil end
  return p, byte(s, p)
end
local function find_in(s)
  local p, c = skip_blanks(s, 1)
  if c ~= 123 then return nil end
  local depth, is_key, first, last = 1, true, nil, nil
  p = p + 1
  while true do
    if first and p > NEAR then return first, last end
    p = find(s, '["{}%[%],]', p)
    if not p or not may_step() then return nil end
    c = byte(s, p)
    if c == 34 then
      local stop = end_of_text(s, p)
      if not stop then return nil end
      if depth == 1 and is_key then
        local name = sub(s, p + 1, stop - 1)
        if find(name, '\\', 1, true) then return nil end
        is_key = false
        p, c = skip_blanks(s, stop + 1)
        if c ~= 58 then return nil end
        p = p + 1
        if name == 'model' then
          p, c = skip_blanks(s, p)
          if first or c ~= 34 then return nil end
          stop = end_of_text(s, p)
          if not stop then return nil end
          first, last = p + 1, stop - 1
          p = stop + 1
        end
      else
        p = stop + 1
      end
    else
      if c == 123 or c == 91 then depth = depth + 1
      elseif c == 125 or c == 93 then
        depth = depth - 1
        if depth == 0 then
          if skip_blanks(s, p + 1) then return nil end
          return first, last
        end
      elseif depth == 1 then is_key = true end
      p = p + 1
    end
  end
end
local function find_model(s)
  left = STEPS
  local first, last = find_in(s)
  return first, last, left <= 0
end
"""
)
_BUSY: Final = error_body(
    429,
    "The name of the model stands behind too many parts of the body for now. Put it first, or try again later.",
    "rate_limit_exceeded",
)
#: A body of another type, a form with a file for example, is passed on as it comes, of any size.
_RENAME: Final = """
local BUSY = [==[<busy>]==]
local function rename(handle, name)
  local kind = string.lower(handle:headers():get('content-type') or '')
  if not find(kind, 'json', 1, true) then return end
  local body = handle:body()
  if body == nil then return end
  local text = body:getBytes(0, body:length())
  local first, last, busy = find_model(text)
  if busy then
    local headers = {[':status'] = '429', ['content-type'] = 'application/json', ['retry-after'] = '1'}
    return handle:respond(headers, BUSY)
  end
  if not first then return end
  local renamed = sub(text, 1, first - 1) .. name .. sub(text, last + 1)
  body:setBytes(renamed)
  handle:headers():replace('content-length', tostring(#renamed))
end
""".replace("<busy>", _BUSY)
_ALWAYS: Final = """
function envoy_on_request(handle)
  rename(handle, '%s')
end
"""
#: Only requests that name a service and no model are held back until their body is there. The first word of the header
#: is the name for all endpoints, each other word one name and the replicas that have it. The host is the endpoint's.
_AS_SERVED: Final = f"""
function envoy_on_request(handle)
  local headers = handle:headers()
  local unnamed, served = headers:get('{HEADER_UNNAMED}'), headers:get('{HEADER_SERVED}')
  headers:remove('{HEADER_UNNAMED}')
  headers:remove('{HEADER_SERVED}')
  if not unnamed or not served then return end
  local replica = string.match(headers:get(':authority') or '', '^[^.:]+') or ''
  local name = string.match(served, '^[^ ]+')
  for other, replicas in string.gmatch(served, ' ([^ =]+)=([^ ]+)') do
    if find(',' .. replicas .. ',', ',' .. replica .. ',', 1, true) then name = other end
  end
  if name and string.match(name, '^[%w/][%w._:/@+-]*$') then rename(handle, name) end
end
"""


def rename_model(model: str) -> str:
    """Return the source of the filter. The name is of letters, digits and `-._:/@+`: it is quoted as it is."""
    return FIND_MODEL + _RENAME + _ALWAYS.replace("%s", model)


def served_model_filter(name: str, namespace: str, gateway: str) -> dict[str, Any]:
    """Return the policy of a cluster's Gateway that puts the engine's own name into requests which name no model.

    It is one for all routes, because each policy of a route adds a filter to the listener: the names come with the
    requests.
    """
    source = FIND_MODEL + _RENAME + _AS_SERVED
    spec = {"targetRefs": [target("Gateway", gateway)], "lua": [{"type": "Inline", "inline": source}]}
    return envoy_object("EnvoyExtensionPolicy", name, namespace, spec)
