"""Makes calls that fail with LiteLLM's client, by whose file Python runs this: its packages are a folder of their own.

The input has a JSON object a line: `base_url`, `api_key`, `model` and `headers`. It prints a list of [exception,
status]; [answer, 200] where a call does not fail.
"""

import importlib
import json
import sys
from typing import Any


def _call(litellm: Any, base_url: str, api_key: str, model: str, headers: dict[str, str]) -> list[Any]:
    asked = {"model": f"openai/{model}", "messages": [{"role": "user", "content": "Hello"}], "extra_headers": headers}
    try:
        answer = litellm.completion(api_base=base_url, api_key=api_key, max_retries=0, timeout=300, **asked)
    except litellm.exceptions.APIError as error:
        return [type(error).__name__, error.status_code]
    except Exception as error:  # noqa: BLE001 - each of its errors has a base of its own
        return [type(error).__name__, getattr(error, "status_code", None)]
    return [answer.choices[0].message.content, 200]


def main() -> None:
    """Make each call once."""
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    print(json.dumps([_call(litellm, **json.loads(line)) for line in sys.stdin]))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
