"""A session of requests for servers whose answers are short. Imported only where metrics are sent."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from requests import Session
from requests.adapters import HTTPAdapter

from flintstream.common._http import read_answer

if TYPE_CHECKING:
    from requests import PreparedRequest, Response
    from urllib3 import BaseHTTPResponse

__all__ = ["MOST_BYTES", "session"]

MOST_BYTES = 1 << 20
"""Longest answer, which only contains the number of metrics that were refused, and the reason."""


class _ShortAnswers(HTTPAdapter):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def build_response(self, req: PreparedRequest, resp: BaseHTTPResponse) -> Response:
        response = super().build_response(req, resp)
        try:
            response.raw = BytesIO(read_answer(resp, self._seconds, MOST_BYTES))
        finally:
            resp.release_conn()
        return response


def session(seconds: float) -> Session:
    """Return a session that reads an answer for so many seconds at most."""
    made = Session()
    for scheme in ("http://", "https://"):
        made.mount(scheme, _ShortAnswers(seconds))
    return made
