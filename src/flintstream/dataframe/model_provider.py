"""Settings of models behind endpoints; mirrors ``pyflink.dataframe.model_provider``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, overload

from flintstream.common._public import publish
from flintstream.dataframe._checks import require_int, require_number
from flintstream.dataframe._models.settings import (
    check_kind,
    choose,
    hide,
    text_of_headers,
    text_of_name,
    texts_of_options,
)

__all__ = [
    "GenericProvider",
    "ModelProvider",
    "OpenAIProvider",
    "TritonProvider",
    "list_model_providers",
    "set_default_model_provider",
    "set_model_provider",
]

_OVERFLOWS = tuple(
    f"{action}{log}" for action in ("truncated-tail", "truncated-head", "skipped") for log in ("", "-log")
)
_registry: dict[str, ModelProvider] = {}
_default: list[str] = []
_UNSET = object()


class ModelProvider(ABC):
    """Base class of settings for models. What it shows of itself hides keys and tokens.

    >>> import flintstream.dataframe as pf
    >>> class Local(pf.ModelProvider):
    ...     def provider_identifier(self):
    ...         return "local"
    ...
    ...     def to_options(self):
    ...         return {"api-key": "abc"}
    >>> Local(), Local().model_option_key()
    (Local({'api-key': '******'}), 'model')
    """

    @abstractmethod
    def provider_identifier(self) -> str:
        """Return the name of the provider, such as ``openai``.

        >>> GenericProvider("local").provider_identifier()
        'local'
        """

    @abstractmethod
    def to_options(self) -> dict[str, str]:
        """Return its options as texts, secrets included.

        >>> GenericProvider("local", token="abc").to_options()
        {'token': 'abc'}
        """

    def model_option_key(self) -> str:
        """Return the option that names the model.

        >>> GenericProvider("local").model_option_key()
        'model'
        """
        return "model"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({hide(self.to_options())})"


class OpenAIProvider(ModelProvider):
    """Settings of an endpoint with the interface of OpenAI, for completions or embeddings.

    Args:
        endpoint: Its URL, which ends with ``/chat/completions`` or ``/embeddings``.
        api_key: The key.
        model: The model.
        system_prompt: What the model reads before each prompt.
        temperature: How much chance there is in answers.
        top_p: From how much of the likely words it chooses.
        max_tokens: The most tokens of an answer.
        stop: Texts that end an answer, with commas.
        presence_penalty: How much it avoids words that are there already.
        n: The number of answers; the first one counts.
        seed: Makes answers repeatable, as far as the endpoint can.
        response_format: ``text`` or ``json_object``.
        dimension: The length of embeddings.
        max_context_size: The most tokens of a prompt.
        context_overflow_action: What happens to longer prompts: ``truncated-tail``, ``truncated-head`` or ``skipped``,
            perhaps with ``-log``.
        error_handling_strategy: ``RETRY``, ``FAILOVER`` or ``IGNORE``.
        retry_num: How often calls are repeated.
        retry_fallback_strategy: ``FAILOVER`` or ``IGNORE``, after the last repetition.

    >>> import flintstream.dataframe as pf
    >>> provider = pf.OpenAIProvider("https://localhost/v1/embeddings", "abc", model="small", dimension=8)
    >>> provider
    OpenAIProvider({'endpoint': 'https://localhost/v1/embeddings', 'api-key': '******', 'model': 'small', 'dimension':
    '8'})
    >>> provider.provider_identifier(), provider.to_options()["api-key"]
    ('openai', 'abc')
    """

    def __init__(
        self,
        endpoint: str,
        api_key: str,
        *,
        model: str | None = None,
        system_prompt: str | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        stop: str | None = None,
        presence_penalty: float | None = None,
        n: int | None = None,
        seed: int | None = None,
        response_format: Literal["text", "json_object"] | None = None,
        dimension: int | None = None,
        max_context_size: int | None = None,
        context_overflow_action: str | None = None,
        error_handling_strategy: Literal["RETRY", "FAILOVER", "IGNORE"] | None = None,
        retry_num: int | None = None,
        retry_fallback_strategy: Literal["FAILOVER", "IGNORE"] | None = None,
    ) -> None:
        """Check the settings.

        Raises:
            TypeError: One has another type.
            ValueError: One is out of bounds.
        """
        options: dict[str, object] = {
            "endpoint": text_of_name(endpoint, "endpoint"),
            "api-key": text_of_name(api_key, "api_key"),
            "model": model,
            "system-prompt": system_prompt,
            "temperature": temperature,
            "top-p": top_p,
            "max-tokens": max_tokens,
            "stop": stop,
            "presence-penalty": presence_penalty,
            "n": n,
            "seed": seed,
            "dimension": dimension,
            "max-context-size": max_context_size,
            "retry-num": retry_num,
            "response-format": choose("response_format", response_format, ("text", "json_object")),
            "context-overflow-action": choose("context_overflow_action", context_overflow_action, _OVERFLOWS),
            "error-handling-strategy": choose(
                "error_handling_strategy", error_handling_strategy, ("RETRY", "FAILOVER", "IGNORE")
            ),
            "retry-fallback-strategy": choose(
                "retry_fallback_strategy", retry_fallback_strategy, ("FAILOVER", "IGNORE")
            ),
        }
        for name in ("model", "system-prompt", "stop"):
            check_kind(name, options[name], str)
        wholes = {"max_tokens": max_tokens, "n": n, "dimension": dimension, "max_context_size": max_context_size}
        for name, whole in wholes.items():
            if whole is not None:
                require_int(whole, name, 1)
        if retry_num is not None:
            require_int(retry_num, "retry_num", 0)
        if seed is not None:
            require_int(seed, "seed")
        for name, number, least, most in (
            ("temperature", temperature, None, None),
            ("top_p", top_p, 0, 1),
            ("presence_penalty", presence_penalty, -2, 2),
        ):
            if number is not None:
                require_number(number, name, least, most)
        self._options = texts_of_options(options)

    def provider_identifier(self) -> str:
        """Return ``openai``.

        >>> OpenAIProvider("https://api.example.com/v1/embeddings", api_key="abc").provider_identifier()
        'openai'
        """
        return "openai"

    def to_options(self) -> dict[str, str]:
        """Return the options as texts, the key included.

        >>> OpenAIProvider("https://api.example.com/v1/embeddings", api_key="abc").to_options()["api-key"]
        'abc'
        """
        return dict(self._options)


class TritonProvider(ModelProvider):
    """Settings of a model on a Triton server. They are checked and kept; flintstream calls no such server yet.

    Args:
        endpoint: The URL of the server.
        model_name: The model.
        options: Further settings, by upstream's names: ``timeout="30 s"``, ``priority=1``, ``auth_token="..."``.

    >>> import flintstream.dataframe as pf
    >>> provider = pf.TritonProvider("http://localhost:8000", model_name="m", flatten_batch_dim=True, priority=1)
    >>> provider.provider_identifier(), provider.model_option_key(), provider.to_options()["flatten-batch-dim"]
    ('triton', 'model-name', 'true')
    """

    def __init__(self, endpoint: str, *, model_name: str | None = None, **options: object) -> None:
        """Check the settings.

        Raises:
            TypeError: One is unknown, or has another type.
            ValueError: One is out of bounds.
        """
        unknown = set(options) - {*_TRITON_TEXTS, *_TRITON_BOOLS, *_TRITON_WHOLES, *_TRITON_OTHERS}
        if unknown:
            raise TypeError(f"TritonProvider got an unexpected keyword argument '{min(unknown)}'")
        for name in _TRITON_TEXTS:
            check_kind(name, options.get(name), str)
        check_kind("model_name", model_name, str)
        for name in _TRITON_BOOLS:
            check_kind(name, options.get(name), bool)
        for name, (least, most) in _TRITON_WHOLES.items():
            if options.get(name) is not None:
                require_int(options[name], name, least, most)
        threshold = "circuit_breaker_failure_threshold"
        if options.get(threshold) is not None:
            require_number(options[threshold], threshold, most=1, above=0)
        found = {name.replace("_", "-"): value for name, value in options.items()}
        found["compression"] = choose("compression", options.get("compression"), ("gzip",))
        found["custom-headers"] = text_of_headers(options.get("custom_headers"))
        self._options = texts_of_options(
            {"endpoint": text_of_name(endpoint, "endpoint"), "model-name": model_name, **found}
        )

    def provider_identifier(self) -> str:
        """Return ``triton``.

        >>> TritonProvider("http://localhost:8000").provider_identifier()
        'triton'
        """
        return "triton"

    def model_option_key(self) -> str:
        """Return ``model-name``.

        >>> TritonProvider("http://localhost:8000").model_option_key()
        'model-name'
        """
        return "model-name"

    def to_options(self) -> dict[str, str]:
        """Return the options as texts, the token included.

        >>> TritonProvider("http://localhost:8000", auth_token="abc").to_options()["auth-token"]
        'abc'
        """
        return dict(self._options)


_TRITON_TEXTS = (
    "model_version", "timeout", "sequence_id", "auth_token", "retry_initial_backoff", "retry_max_backoff",
    "default_value", "health_check_interval", "circuit_breaker_timeout",
)  # fmt: skip
_TRITON_BOOLS = (
    "flatten_batch_dim", "sequence_start", "sequence_end", "health_check_enabled", "circuit_breaker_enabled"
)  # fmt: skip
_TRITON_WHOLES: dict[str, tuple[int, int | None]] = {
    "priority": (0, 255), "max_retries": (0, None), "circuit_breaker_half_open_requests": (1, None),
}  # fmt: skip
_TRITON_OTHERS = ("compression", "custom_headers", "circuit_breaker_failure_threshold")


class GenericProvider(ModelProvider):
    """Settings of any provider, by the names of its options.

    >>> import flintstream.dataframe as pf
    >>> pf.GenericProvider("mine", endpoint="https://localhost").to_options()
    {'endpoint': 'https://localhost'}
    """

    def __init__(self, identifier: str, /, **options: str) -> None:
        """Check the settings.

        Raises:
            TypeError: One is not a text.
            ValueError: The name is empty.
        """
        self._identifier = text_of_name(identifier, "identifier")
        for key, value in options.items():
            if not isinstance(value, str):
                raise TypeError(f"Option {key!r} must have a string value")
        self._options = dict(options)

    def provider_identifier(self) -> str:
        """Return the name.

        >>> GenericProvider("local").provider_identifier()
        'local'
        """
        return self._identifier

    def to_options(self) -> dict[str, str]:
        """Return the options as texts.

        >>> GenericProvider("local", size="3").to_options()
        {'size': '3'}
        """
        return dict(self._options)


@overload
def set_model_provider(provider: ModelProvider, /) -> None: ...


@overload
def set_model_provider(*, provider: ModelProvider) -> None: ...


@overload
def set_model_provider(name: str, provider: ModelProvider) -> None: ...


def set_model_provider(*args: object, name: object = _UNSET, provider: object = _UNSET) -> None:
    """Register settings under a name, or under that of the provider, in this process.

    Raises:
        TypeError: The settings are missing, or the name is not a text.
        ValueError: The name is empty.

    >>> import flintstream.dataframe as pf
    >>> pf.set_model_provider("mine", pf.GenericProvider("mine"))
    >>> "mine" in pf.list_model_providers()
    True
    """
    if len(args) > 2:
        raise TypeError("set_model_provider() takes at most 2 positional arguments")
    if args and name is not _UNSET:
        raise TypeError("set_model_provider() got multiple values for argument 'name'")
    if len(args) == 2 and provider is not _UNSET:
        raise TypeError("set_model_provider() got multiple values for argument 'provider'")
    if len(args) == 2:
        name, provider = args
    elif args and provider is _UNSET:
        provider = args[0]
    elif args:
        name = args[0]
    if not isinstance(provider, ModelProvider):
        raise TypeError("provider must be a ModelProvider")
    _registry[text_of_name(provider.provider_identifier() if name is _UNSET else name, "name")] = provider


def list_model_providers() -> list[str]:
    """Return the names of all settings, the first ones first.

    >>> set_model_provider("other", GenericProvider("other"))
    >>> list_model_providers()[-1]
    'other'
    """
    return list(_registry)


def set_default_model_provider(name: str) -> None:
    """Choose the settings that count where a program names none.

    Raises:
        TypeError: The name is not a text.
        ValueError: There are none of this name.

    >>> set_model_provider("mine", GenericProvider("mine"))
    >>> set_default_model_provider("mine")
    """
    if text_of_name(name, "name") not in _registry:
        raise ValueError(f"Model provider {name!r} is not registered")
    _default[:] = [name]


def _resolve_provider(name: str | None = None) -> ModelProvider:
    if name is None and _default:
        name = _default[0]
    if name is not None:
        if text_of_name(name, "name") not in _registry:
            raise ValueError(f"Model provider {name!r} is not registered")
        return _registry[name]
    if not _registry:
        raise ValueError("No model provider is registered")
    if len(_registry) > 1:
        raise ValueError(
            "Multiple model providers are registered; call set_default_model_provider() or select a provider explicitly"
        )
    return next(iter(_registry.values()))


publish(__name__, __all__, globals())
