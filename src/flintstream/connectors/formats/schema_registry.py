"""The schema registry of Confluent, over HTTP: schemas by number, and numbers of schemas."""

from __future__ import annotations

import base64
import json
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request

from flintstream.common._http import RefusalError, ask
from flintstream.common._text.secrets import without_secrets
from flintstream.connectors.kafka.tls import tls_context
from flintstream.errors import FlintstreamError, PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ssl import SSLContext

_TIMEOUT_S = 30
_CONTENT = "application/vnd.schemaregistry.v1+json"


class SchemaRegistryError(FlintstreamError):
    """No schema registry answers, or it refuses a request. The message has the address and the answer."""


class SchemaRegistry:
    """A registry at one address or several, of which the first that answers is asked.

    Args:
        urls: The addresses, with ``http`` or ``https``.
        user_info: ``user:password``, unless the address has them.
        token: What proves the identity of the client in place of a password.
        tls: The stores of certificates and keys, by the names that Java's clients have for them, such as
            ``ssl.truststore.location``. They are read in the process that connects.

    Raises:
        PlanError: An address is none of HTTP.
    """

    def __init__(
        self,
        urls: Sequence[str],
        user_info: str | None = None,
        token: str | None = None,
        tls: Mapping[str, str] | None = None,
    ) -> None:
        for url in urls:
            if urlsplit(url).scheme not in {"http", "https"}:
                raise PlanError(
                    f"the schema registry needs an address with http or https, but got {shorten(without_secrets(url))}"
                )
        self.urls, self.user_info, self.token, self.tls = tuple(urls), user_info, token, dict(tls or {})
        self._schemas: dict[int, str] = {}
        self._context: SSLContext | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_context": None}

    def __repr__(self) -> str:
        return f"SchemaRegistry({', '.join(map(without_secrets, self.urls))})"

    def schema(self, number: int) -> str:
        """Return the text of a schema; it is asked for once.

        Raises:
            SchemaRegistryError: There is no such schema, or no answer.
        """
        known = self._schemas.get(number)
        if known is None:
            found = self._ask(f"/schemas/ids/{number}", None)
            if found.get("schemaType", "AVRO") != "AVRO":
                raise SchemaRegistryError(f"schema {number} of {self!r} is of the type {found['schemaType']}, not AVRO")
            known = self._schemas[number] = found["schema"]
        return known

    def register(self, subject: str, schema: str) -> int:
        """Return the number of a schema, which becomes a version of the subject if it is none yet.

        Raises:
            SchemaRegistryError: The schema is not compatible with those before it, or there is no answer.
        """
        found = self._ask(f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema})
        return int(found["id"])

    def _ask(self, path: str, content: Any) -> Any:
        failure: Exception | None = None
        context = self._tls_context()
        for url in self.urls:
            try:
                return json.loads(ask(self._request(url, path, content), _TIMEOUT_S, context=context))
            except RefusalError as error:
                if error.status < 500:
                    text = shorten(without_secrets(error.text), 300)
                    raise SchemaRegistryError(f"{self!r} refuses {path}: {error.status} {text}") from None
                failure = error
            except (OSError, ValueError, HTTPException) as error:
                failure = error
        raise SchemaRegistryError(f"{self!r} does not answer {path}: {failure}")

    def _tls_context(self) -> SSLContext | None:
        if self.tls and self._context is None:
            self._context = tls_context(self.tls)
        return self._context

    def _request(self, url: str, path: str, content: Any) -> Request:
        parts = urlsplit(url)
        user_info = self.user_info
        if parts.username is not None and user_info is None:
            user_info = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        place = parts._replace(netloc=parts.netloc.rpartition("@")[2], path=parts.path.rstrip("/") + path)
        data = None if content is None else json.dumps(content).encode()
        request = Request(place.geturl(), data, {"Accept": _CONTENT, "Content-Type": _CONTENT})  # noqa: S310
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token}")
        elif user_info is not None:
            request.add_header("Authorization", "Basic " + base64.b64encode(user_info.encode()).decode())
        return request
