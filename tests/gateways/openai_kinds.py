"""Makes calls that are no chats with OpenAI's own client: `python -m ... BASE_URL KEY [SERVICE]`.

With a SERVICE it is named in the header x-model. It prints status and text of each answer, as a JSON object.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import openai

from modelplane_dev.plane.gateways.requests import PATIENCE

#: The file that is sent: more than a gateway holds at first.
_FILE: Final = ("a.wav", b"x" * 100_000)
_CALLS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "form": lambda client: client.audio.transcriptions.create(model="example/model", file=_FILE),
    "file": lambda client: client.files.create(file=_FILE, purpose="batch"),
    "read a file": lambda client: client.files.retrieve("file-1"),
    "delete a file": lambda client: client.files.delete("file-1"),
    "batch": lambda client: client.batches.create(
        input_file_id="file-1", endpoint="/v1/chat/completions", completion_window="24h"
    ),
    "read a batch": lambda client: client.batches.retrieve("batch-1"),
    "models": lambda client: client.models.list(),
}


def _call(call: Callable[[Any], Any], client: openai.OpenAI) -> tuple[int, str]:
    try:
        answer = call(client.with_raw_response).http_response
    except openai.APIStatusError as error:
        answer = error.response
    return answer.status_code, answer.text


def main(url: str, key: str, service: str = "") -> None:
    """Make each call once."""
    headers = {"x-model": service} if service else None
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=PATIENCE, default_headers=headers)
    sys.stdout.write(json.dumps({name: _call(call, client) for name, call in _CALLS.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
