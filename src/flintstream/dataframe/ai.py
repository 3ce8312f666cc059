"""Calls of models as functions of expressions: completions and embeddings.

Upstream has the settings of models; these functions are flintstream's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.dataframe._checks import require_int, require_number
from flintstream.dataframe._models.client import Client, Limits, ModelError
from flintstream.dataframe._models.settings import choose
from flintstream.dataframe.datatype import DataType
from flintstream.dataframe.model_provider import ModelProvider, OpenAIProvider, _resolve_provider
from flintstream.dataframe.udf import udf
from flintstream.errors import optional_module

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from flintstream.dataframe.udf import _DataFrameUDFWrapper
    from flintstream.table.expression import Expression

__all__ = ["ModelError", "complete", "embed"]

_NUMBERS = {"temperature": float, "top-p": float, "presence-penalty": float}
_WHOLES = {"max-tokens": int, "n": int, "seed": int}


class _Model:
    """Calls a model for batches of texts; each subtask has one."""

    def __init__(self, options: Mapping[str, str], limits: Limits, texts_per_call: int) -> None:
        self.options, self.limits, self.texts_per_call = dict(options), limits, texts_per_call
        self.client: Client | None = None
        self.__name__ = "model"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.options.get('endpoint')})"

    def __call__(self, texts: pd.Series) -> pd.Series:
        if self.client is None:
            self.client = Client(self.options["endpoint"], self.options["api-key"], self.limits)
        pandas = optional_module("pandas", extra="dataframes", purpose="models")
        present = [i for i, text in enumerate(texts) if isinstance(text, str)]
        found: list[object] = [None] * len(texts)
        pieces = [present[i : i + self.texts_per_call] for i in range(0, len(present), self.texts_per_call)]
        asked = [[self.cut(texts.iloc[i]) for i in piece] for piece in pieces]
        for piece, answer in zip(pieces, self.client.call_all([self.body(item) for item in asked]), strict=True):
            if answer is not None:
                for i, value in zip(piece, self.read(answer, len(piece)), strict=True):
                    found[i] = value
        return pandas.Series(found, index=texts.index, dtype=object)

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "client": None}

    def cut(self, text: str) -> str:
        """Return a prompt of the longest size: a token has four characters, as a rule."""
        size = int(self.options.get("max-context-size", "0")) * 4
        if not size or len(text) <= size:
            return text
        head = self.options.get("context-overflow-action", "").startswith("truncated-head")
        return text[-size:] if head else text[:size]

    def body(self, texts: Sequence[str]) -> dict[str, object]:
        raise NotImplementedError

    def read(self, answer: Mapping[str, object], count: int) -> list[object]:
        raise NotImplementedError


class _Completions(_Model):
    def body(self, texts: Sequence[str]) -> dict[str, object]:
        prompt = self.options.get("system-prompt", "You are a helpful assistant.")
        made: dict[str, object] = {
            "model": self.options["model"],
            "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": texts[0]}],
        }
        for key, convert in {**_NUMBERS, **_WHOLES}.items():
            if key in self.options:
                made[key.replace("-", "_")] = convert(self.options[key])
        if "stop" in self.options:
            made["stop"] = self.options["stop"].split(",")
        if "response-format" in self.options:
            made["response_format"] = {"type": self.options["response-format"]}
        return made

    def read(self, answer: Mapping[str, object], count: int) -> list[object]:
        try:
            return [answer["choices"][0]["message"]["content"]]  # type: ignore[index]  # an error otherwise
        except (KeyError, IndexError, TypeError) as error:
            raise ModelError("the endpoint's response has no message") from error


class _Embeddings(_Model):
    def body(self, texts: Sequence[str]) -> dict[str, object]:
        made: dict[str, object] = {"model": self.options["model"], "input": list(texts)}
        if "dimension" in self.options:
            made["dimensions"] = int(self.options["dimension"])
        return made

    def read(self, answer: Mapping[str, object], count: int) -> list[object]:
        try:
            data = sorted(answer["data"], key=lambda item: item["index"])  # type: ignore[call-overload]  # as above
            vectors = [[float(number) for number in item["embedding"]] for item in data]
        except (KeyError, TypeError) as error:
            raise ModelError("the endpoint's response has no embeddings") from error
        if len(vectors) != count:
            raise ModelError(f"the endpoint returned {len(vectors)} embeddings for {count} texts")
        return list(vectors)


def complete(
    text: Expression,
    *,
    provider: str | ModelProvider | None = None,
    model: str | None = None,
    max_calls: int = 8,
    calls_per_second: float | None = None,
    timeout: float = 60.0,
    backoff: float = 0.5,
    batch_size: int = 64,
    concurrency: int | None = None,
) -> Expression:
    """Return what a model answers to a prompt.

    Args:
        text: The prompt; None has no answer.
        provider: Settings, or the name of registered ones.
        model: The model, if the settings name none.
        max_calls: The most calls of a subtask at once.
        calls_per_second: The most calls of a subtask in a second.
        timeout: The most seconds that an answer takes.
        backoff: The seconds before a call is repeated; each further time takes twice as long.
        batch_size: The most prompts that a subtask holds at once.
        concurrency: How many subtasks call the model.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is out of bounds, or the settings are missing.

    >>> import flintstream.dataframe as pf
    >>> provider = pf.OpenAIProvider("http://127.0.0.1:9/v1/chat/completions", "key", model="small")
    >>> pf.from_dict({"q": ["2 + 2?"]}).select(a=pf.complete(pf.col("q"), provider=provider)).columns
    ['a']
    """
    options, limits = _settings(provider, model, max_calls, calls_per_second, timeout, backoff)
    function = _Completions(options, limits, 1)
    return _declare(function, DataType.string(), "complete", batch_size, concurrency)(text)


def embed(
    text: Expression,
    *,
    provider: str | ModelProvider | None = None,
    model: str | None = None,
    texts_per_call: int = 32,
    max_calls: int = 4,
    calls_per_second: float | None = None,
    timeout: float = 60.0,
    backoff: float = 0.5,
    batch_size: int = 256,
    concurrency: int | None = None,
) -> Expression:
    """Return the embedding of a text, as an array of numbers.

    Args:
        text: The text; None has no embedding.
        provider: Settings, or the name of registered ones.
        model: The model, if the settings name none.
        texts_per_call: The most texts in one call.
        max_calls: The most calls of a subtask at once.
        calls_per_second: The most calls of a subtask in a second.
        timeout: The most seconds that an answer takes.
        backoff: The seconds before a call is repeated; each further time takes twice as long.
        batch_size: The most texts that a subtask holds at once.
        concurrency: How many subtasks call the model.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is out of bounds, or the settings are missing.

    >>> import flintstream.dataframe as pf
    >>> provider = pf.OpenAIProvider("http://127.0.0.1:9/v1/embeddings", "key", model="small")
    >>> pf.from_dict({"text": ["pear"]}).select(v=pf.embed(pf.col("text"), provider=provider)).columns
    ['v']
    """
    options, limits = _settings(provider, model, max_calls, calls_per_second, timeout, backoff)
    function = _Embeddings(options, limits, require_int(texts_per_call, "texts_per_call", 1))
    return _declare(function, DataType.list(DataType.float64()), "embed", batch_size, concurrency)(text)


def _declare(
    function: _Model, kind: DataType, name: str, batch_size: int, concurrency: int | None
) -> _DataFrameUDFWrapper:
    return udf(
        function,
        return_dtype=kind,
        name=name,
        func_type="pandas",
        deterministic=False,
        batch_size=batch_size,
        concurrency=concurrency,
    )


def _settings(
    provider: str | ModelProvider | None,
    model: str | None,
    max_calls: object,
    calls_per_second: object,
    timeout: object,
    backoff: object,
) -> tuple[dict[str, str], Limits]:
    found = provider if isinstance(provider, ModelProvider) else _resolve_provider(provider)
    if not isinstance(found, OpenAIProvider):
        raise TypeError(f"flintstream calls models of OpenAIProvider only, but got {type(found).__name__}")
    options = found.to_options()
    if model is not None:
        options["model"] = model
    if not options.get("model"):
        raise ValueError("the model is missing: name it in the provider or in the call")
    strategy = options.get("error-handling-strategy", "RETRY")
    fallback = options.get("retry-fallback-strategy", "FAILOVER") if strategy == "RETRY" else strategy
    limits = Limits(
        timeout=require_number(timeout, "timeout", above=0),
        retries=int(options.get("retry-num", "100")) if strategy == "RETRY" else 0,
        backoff=require_number(backoff, "backoff", 0),
        calls=require_int(max_calls, "max_calls", 1),
        rate=None if calls_per_second is None else require_number(calls_per_second, "calls_per_second", above=0),
        on_error=choose("retry_fallback_strategy", fallback, ("FAILOVER", "IGNORE")) or "FAILOVER",
    )
    return options, limits


publish(__name__, ["complete", "embed"], globals())
