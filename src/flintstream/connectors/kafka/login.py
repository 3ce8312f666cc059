"""Translation of the login settings of Kafka's Java clients to those of librdkafka."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.msk import MECHANISM, msk_tokens
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

JAAS = "sasl.jaas.config"
CALLBACK = "sasl.login.callback.handler.class"
CLIENT_CALLBACK = "sasl.client.callback.handler.class"
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105 - the name of a property

_OPTION = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;]+))")
_ESCAPED = re.compile(r"\\(.)")
_EXTENSION = "extension_"

OWN_CALLBACKS = frozenset({"OAuthBearerLoginCallbackHandler", "OAuthBearerSaslClientCallbackHandler"})
"""Callback handlers that come with Kafka."""

OF_A_FUNCTION = (
    "name a Python function as 'module:function': it takes the text of 'sasl.oauthbearer.config', and returns a token "
    "and its expiry, in seconds since the epoch"
)

_MSK = f"it belongs to the mechanism {MECHANISM}: set 'sasl.mechanism' to that"


def login(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the librdkafka properties for the login.

    >>> jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";'
    >>> login({"sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas})
    {'sasl.mechanisms': 'PLAIN', 'sasl.username': 'u', 'sasl.password': 'p'}

    Raises:
        PlanError: The settings need Java. The message omits the configuration, which may contain a password.
    """
    found: dict[str, Any] = {}
    mechanism = properties.get("sasl.mechanism", properties.get("sasl.mechanisms", "")).upper()
    if mechanism == MECHANISM:
        tokens = msk_tokens(properties.get("bootstrap.servers", ""), _options(properties.get(JAAS, "")))
        return {"sasl.mechanisms": "OAUTHBEARER", "oauth_cb": tokens}
    if mechanism:
        found["sasl.mechanisms"] = mechanism
    callback = properties.get(CALLBACK, "")
    if ":" in callback:
        found["oauth_cb"] = _function(callback)
    for key in (CALLBACK, CLIENT_CALLBACK):
        _check_callback(key, properties.get(key, ""))
    if JAAS in properties:
        found |= _of_module(properties[JAAS], properties)
    if TOKEN_URL in properties:
        if properties[TOKEN_URL].startswith("file:"):
            raise PlanError(
                f"the Kafka property '{TOKEN_URL}' names a file, which librdkafka does not read: set '{CALLBACK}', and "
                f"{OF_A_FUNCTION}"
            )
        if "oauth_cb" not in found:
            found["sasl.oauthbearer.method"] = "oidc"
    kinit = properties.get("sasl.kerberos.kinit.cmd")
    if kinit is not None:  # Java takes a path, librdkafka a whole command
        arguments = "" if " " in kinit.strip() else ' -t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal}'
        found["sasl.kerberos.kinit.cmd"] = kinit + arguments
    return found


def _check_callback(key: str, name: str) -> None:
    if not name or (":" in name and key == CALLBACK) or name.rpartition(".")[2] in OWN_CALLBACKS:
        return
    if name.startswith("software.amazon.msk."):
        raise PlanError(f"the Kafka property '{key}' is {name}: {_MSK}")
    advice = f"set '{CALLBACK}', and {OF_A_FUNCTION}"
    raise PlanError(f"the Kafka property '{key}' names the Java class {name}, which cannot run here: {advice}")


def _function(name: str) -> Callable[[str], Any]:
    """Return a token function that is looked up when a client is made, in the process of that client."""
    module, _, attribute = name.partition(":")

    def token(config: str) -> Any:
        return getattr(import_module(module), attribute)(config)

    return token


def _options(text: str) -> dict[str, str]:
    """Return the options of a login module."""
    return {name: _ESCAPED.sub(r"\1", next(filter(None, values), "")) for name, *values in _OPTION.findall(text)}


def _of_module(text: str, properties: Mapping[str, str]) -> dict[str, Any]:
    module = text.strip().split(None, 1)[0] if text.strip() else ""
    kind = module.rpartition(".")[2]
    options = _options(text)
    if kind in {"PlainLoginModule", "ScramLoginModule"} and options.get("tokenauth", "").lower() != "true":
        if "username" not in options or "password" not in options:
            raise PlanError(f"the Kafka property '{JAAS}' lacks a username or a password for its {kind}")
        return {"sasl.username": options["username"], "sasl.password": options["password"]}
    if kind == "OAuthBearerLoginModule":
        return _of_tokens(options, properties)
    if kind == "Krb5LoginModule":
        return _of_kerberos(options)
    if module.startswith("software.amazon.msk."):
        raise PlanError(f"the Kafka property '{JAAS}' is for {module}: {_MSK}")
    if kind == "ScramLoginModule":
        raise PlanError(
            f"the Kafka property '{JAAS}' has a delegation token (tokenauth), which librdkafka cannot log in with: use "
            "username and password"
        )
    raise PlanError(
        f"the Kafka property '{JAAS}' has an unsupported login module: use PlainLoginModule, "
        "ScramLoginModule, OAuthBearerLoginModule or Krb5LoginModule, or librdkafka's own properties (sasl.*)"
    )


def _of_tokens(options: dict[str, str], properties: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for option, key in (("clientId", "client.id"), ("clientSecret", "client.secret"), ("scope", "scope")):
        if option in options:
            found[f"sasl.oauthbearer.{key}"] = options[option]
    extensions = [
        f"{name.removeprefix(_EXTENSION)}={value}" for name, value in options.items() if name.startswith(_EXTENSION)
    ]
    if extensions:
        found["sasl.oauthbearer.extensions"] = ",".join(extensions)
    subject = options.get("unsecuredLoginStringClaim_sub")
    if subject is not None and TOKEN_URL not in properties and CALLBACK not in properties:
        life = options.get("unsecuredLoginLifetimeSeconds", "3600")
        found |= {"enable.sasl.oauthbearer.unsecure.jwt": "true"}
        found |= {"sasl.oauthbearer.config": f"principal={subject} lifeSeconds={life}"}
    return found


def _of_kerberos(options: dict[str, str]) -> dict[str, Any]:
    found = {}
    for option, key in (("keyTab", "keytab"), ("principal", "principal"), ("serviceName", "service.name")):
        if option in options:
            found[f"sasl.kerberos.{key}"] = options[option].removeprefix("file:")
    if "keyTab" not in options:  # with existing tickets there is nothing to renew
        found["sasl.kerberos.min.time.before.relogin"] = "0"
    return found
