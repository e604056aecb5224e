"""Where a request's body names the model, and the filter that puts a provider's own name there; in Lua."""

from typing import Final

#: Finds the value of the top-level `model` of a JSON object without parsing the rest: prompts are large. A body that
#: names it twice, or by an escaped key, or is no object, has none.
FIND_MODEL: Final = r"""
local find, byte, sub = string.find, string.byte, string.sub
local function end_of_text(s, at)
  local p = at
  while true do
    p = find(s, '"', p + 1, true)
    if not p then return nil end
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
local function find_model(s)
  local p, c = skip_blanks(s, 1)
  if c ~= 123 then return nil end
  local depth, is_key, first, last = 1, true, nil, nil
  p = p + 1
  while true do
    p = find(s, '["{}%[%],]', p)
    if not p then return nil end
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
"""
_RENAME: Final = """
function envoy_on_request(handle)
  local body = handle:body()
  if body == nil then return end
  local text = body:getBytes(0, body:length())
  local first, last = find_model(text)
  if not first then return end
  local renamed = sub(text, 1, first - 1) .. '%s' .. sub(text, last + 1)
  body:setBytes(renamed)
  handle:headers():replace('content-length', tostring(#renamed))
end
"""


def rename_model(model: str) -> str:
    """Return the source of the filter. The name is of letters, digits and `-._:/@+`: it is quoted as it is."""
    return FIND_MODEL + _RENAME.replace("%s", model)
