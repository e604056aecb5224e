"""The Hugging Face Hub: the files of a revision, and their bytes. Its errors become HydrateErrors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2
from huggingface_hub import HfApi, get_session, hf_hub_url
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HFValidationError, RepositoryNotFoundError
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # type: ignore[attr-defined]

from modelplane.hydrate.failure import BrokenError, LastingError, NoResumeError, ShortError
from modelplane.hydrate.plan import File, Plan, find_refused
from modelplane.model.staging import HydrateExit

#: Seconds without a byte after which a connection counts as broken.
_SILENCE = 60


def _seconds(response: httpx2.Response) -> float | None:
    """Return how long the hub asks to wait, given as seconds or as a date (RFC 9110), None when it does not say."""
    asked = response.headers.get("Retry-After", "")
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def read_token(text: str | None) -> str | None:
    """Return the token of a Secret's key without a trailing line break, None without one.

    Raises LastingError for a token that is not valid in a header: the client would quote it in its own error.
    """
    token = (text or "").strip()
    if not (token.isascii() and token.isprintable()):
        raise LastingError(HydrateExit.REFUSED, "the token in HF_TOKEN is not one line of printable ASCII")
    return token or None


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """Turn the client's exceptions into HydrateErrors; a response that it does not understand may be a proxy's."""
    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code
        message = f"{what}: {status}: {error.server_message or error.response.reason_phrase}"
        # The hub also answers 401 for a repository that does not exist, so that private ones cannot be detected.
        unknown = isinstance(error, RepositoryNotFoundError) and not isinstance(error, GatedRepoError)
        if unknown or status in (404, 410):
            raise LastingError(HydrateExit.NOT_FOUND, message) from error
        if status in (401, 403):
            raise LastingError(HydrateExit.REFUSED, message) from error
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise ShortError(message) from error
        raise BrokenError(message, _seconds(error.response)) from error
    except HFValidationError as error:
        raise LastingError(HydrateExit.NOT_FOUND, f"{what}: {error}") from error
    except (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
        raise BrokenError(f"{what}: {type(error).__name__}: {error}".removesuffix(": ")) from error


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub at `endpoint` (None: the public one), used with a `token` (None: without)."""

    endpoint: str | None = None
    token: str | None = None

    def plan(self, repo: str, revision: str) -> Plan:
        """Return the files of a revision ("": the default branch), pinned to its present commit."""
        named = f"{repo} at {revision or 'its default branch'}"
        with _translated(named):
            api = HfApi(endpoint=self.endpoint, token=self.token or False)
            found = api.model_info(repo, revision=revision or None, files_metadata=True, timeout=_SILENCE)
        files = []
        if wrong := find_refused([sibling.rfilename for sibling in found.siblings or ()]):
            raise LastingError(HydrateExit.CORRUPT, f"{named}: {wrong}")
        for sibling in found.siblings or ():
            checksum = sibling.lfs.sha256 if sibling.lfs else sibling.blob_id
            size = sibling.lfs.size if sibling.lfs else sibling.size
            # A negative size would reduce the total that is checked against the limit.
            if not checksum or not isinstance(size, int) or size < 0 or not found.sha:
                raise BrokenError(f"{named}: the hub does not say what {sibling.rfilename!r} is")
            files.append(File(sibling.rfilename, size, "sha256" if sibling.lfs else "git", checksum))
        if not files or not found.sha:
            raise LastingError(HydrateExit.NOT_FOUND, f"{named}: the repository has no files")
        return Plan(repo, revision, found.sha, tuple(sorted(files, key=lambda file: file.path)))

    def read(self, plan: Plan, file: File, start: int) -> Iterator[bytes]:
        """Yield the bytes of a file from `start` on; raises BrokenError if the hub does not continue there."""
        url = hf_hub_url(plan.repo, file.path, revision=plan.commit, endpoint=self.endpoint)
        headers = build_hf_headers(token=self.token or False) | {"Accept-Encoding": "identity"}
        headers |= {"Range": f"bytes={start}-"} if start else {}
        with _translated(file.path), get_session().stream("GET", url, headers=headers, timeout=_SILENCE) as response:
            if response.status_code >= 400:
                response.read()
            hf_raise_for_status(response)
            if start and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                raise NoResumeError(f"{file.path}: the hub does not resume at byte {start}")
            # Unbuffered: bytes in a larger chunk would be lost when the connection breaks.
            yield from response.iter_raw()
