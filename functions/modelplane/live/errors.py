"""What can go wrong while a control cluster is asked (the tree is in the package's docstring)."""


class LiveError(Exception):
    """The control cluster cannot be asked."""


class KubectlError(LiveError):
    """kubectl is not installed, or failed; the text is its own, whole."""


class ServerError(LiveError):
    """The API server refused a request: the HTTP `status`, and its message as the text."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)
