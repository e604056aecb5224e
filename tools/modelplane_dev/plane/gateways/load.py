"""Sends chats to a service and counts the answers: `python -m ... URL REQUESTS WORKERS`, which prints JSON.

Of each request it counts the status, 0 for a broken connection, and which engine answered.
"""

import http.client
import json
import sys
import urllib.parse
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

#: Seconds that an answer may take.
PATIENCE = 60.0
_BODY = json.dumps({"model": "example/model", "messages": [{"role": "user", "content": "Hello"}]})


def _some(url: urllib.parse.SplitResult, requests: int) -> Counter[str]:
    """Return the counts of so many requests over one connection, made anew when it breaks."""
    found: Counter[str] = Counter()
    connection = http.client.HTTPConnection(url.netloc, timeout=PATIENCE)
    for _ in range(requests):
        try:
            connection.request("POST", f"{url.path}/v1/chat/completions", _BODY, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            found["0"] += 1
            continue
        found[str(answer.status)] += 1
        if answer.status == http.HTTPStatus.OK:
            found[json.loads(body)["system_fingerprint"]] += 1
    connection.close()
    return found


def main(url: str, requests: str, workers: str) -> None:
    """Send the requests, and print the counts."""
    parts, each = urllib.parse.urlsplit(url), int(requests) // int(workers)
    with ThreadPoolExecutor(int(workers)) as pool:
        counts = pool.map(lambda _: _some(parts, each), range(int(workers)))
        print(json.dumps(sum(counts, Counter())))


if __name__ == "__main__":
    main(*sys.argv[1:])
