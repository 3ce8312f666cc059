"""Clients of AWS, from properties with Flink's names."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError, PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

PROVIDER = "aws.credentials.provider"
_CREDENTIALS = "aws.credentials."
PROVIDERS = ("ENV_VAR", "SYS_PROP", "PROFILE", "BASIC", "ASSUME_ROLE", "WEB_IDENTITY_TOKEN", "CUSTOM", "AUTO")
"""Names of the ways to find credentials, which are those of Flink."""

THROTTLING = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "ItemCollectionSizeLimitExceededException",
        "KMSThrottlingException",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
"""Codes of errors that pass: the service asks to send less, or is out of order."""


class AwsError(FlintstreamError):
    """A service of AWS cannot be reached, or refuses a request. The message names stream and reason."""


def library() -> ModuleType:
    """Return the module ``boto3``.

    Raises:
        MissingDependencyError: boto3 is not installed.
    """
    return optional_module("boto3", extra="aws", purpose="the AWS connector")


def core(module: str) -> ModuleType:
    """Return a module of botocore, which comes with boto3."""
    library()
    return import_module(f"botocore.{module}")


@dataclass(frozen=True)
class AwsAccess:
    """The properties of a client. Tasks get a copy."""

    properties: Mapping[str, str] = field(repr=False)  # may contain secrets

    def check(self) -> AwsAccess:
        """Return this, if a client can be made of it.

        Raises:
            PlanError: The region is missing, or the provider of credentials is unknown or incomplete.
            MissingDependencyError: boto3 is not installed.
        """
        library()
        given = self.properties
        region = given.get("aws.region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if not region and not given.get("aws.endpoint"):
            raise PlanError("set 'aws.region' in the properties, for example to 'eu-central-1'")
        self._check_provider(PROVIDER)
        return self

    def _check_provider(self, prefix: str) -> None:
        given = self.properties
        name = self._provider(prefix)
        needed = {
            "BASIC": (f"{prefix}.basic.accesskeyid", f"{prefix}.basic.secretkey"),
            "PROFILE": (f"{prefix}.profile.name",),
            "ASSUME_ROLE": (f"{prefix}.role.arn", f"{prefix}.role.sessionName"),
            "CUSTOM": (f"{prefix}.custom.class",),
        }
        if name not in PROVIDERS:
            raise PlanError(f"'{prefix}' must be one of {', '.join(PROVIDERS)}, got '{name}'")
        if name == "SYS_PROP":
            raise PlanError(f"'{prefix}' is SYS_PROP, which reads system properties of a JVM: use ENV_VAR")
        missing = [key for key in needed.get(name, ()) if not given.get(key)]
        if missing:
            raise PlanError(f"'{prefix}' is {name}, which needs '{missing[0]}'")
        if name == "ASSUME_ROLE":
            self._check_provider(f"{prefix}.role.provider")

    def _provider(self, prefix: str) -> str:
        keys = (f"{prefix}.basic.accesskeyid", f"{prefix}.basic.secretkey")
        usual = "BASIC" if all(self.properties.get(key) for key in keys) else "AUTO"
        return self.properties.get(prefix, usual).upper()

    def client(self, service: str) -> object:
        """Return a client of a service. It does not repeat requests: the connector does.

        Raises:
            AwsError: Credentials are missing, or the properties do not make a client.
        """
        given = self.properties
        verify = given.get("aws.trust.all.certificates", "false").lower() != "true"
        settings = core("config").Config(
            retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=60, user_agent_extra="flintstream"
        )
        try:
            found: object = (
                library()
                .Session(botocore_session=self._session(PROVIDER))
                .client(service, endpoint_url=given.get("aws.endpoint") or None, config=settings, verify=verify)
            )
        except (core("exceptions").BotoCoreError, ValueError) as error:
            raise AwsError(f"cannot create an AWS client: {error}") from None
        return found

    def credentials(self) -> object | None:
        """Return the credentials, which renew themselves; None if there are none."""
        found: object | None = self._session(PROVIDER).get_credentials()  # type: ignore[attr-defined]  # of botocore
        return found

    def _session(self, prefix: str) -> object:
        """Return a session of botocore whose credentials come from a provider."""
        given, name = self.properties, self._provider(prefix)
        session = core("session").Session(profile=given.get(f"{prefix}.profile.name") if name == "PROFILE" else None)
        region = given.get("aws.region") or os.environ.get("AWS_REGION")
        if region or given.get("aws.endpoint"):
            session.set_config_variable("region", region or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1")
        path = given.get(f"{prefix}.profile.path")
        if name == "PROFILE" and path:
            session.set_config_variable("credentials_file", path)
        if name == "BASIC":
            session.set_credentials(
                given[f"{prefix}.basic.accesskeyid"],
                given[f"{prefix}.basic.secretkey"],
                given.get(f"{prefix}.basic.sessiontoken"),
            )
        elif name in {"ENV_VAR", "WEB_IDENTITY_TOKEN", "ASSUME_ROLE", "CUSTOM"}:
            resolver = core("credentials").CredentialResolver(providers=[self._provider_of(prefix, name, session)])
            session.register_component("credential_provider", resolver)
        return session

    def _provider_of(self, prefix: str, name: str, session: object) -> object:
        """Return the only provider of a session."""
        given, credentials = self.properties, core("credentials")
        found: object
        if name == "ENV_VAR":
            found = credentials.EnvProvider()
        elif name == "CUSTOM":
            found = _custom(given[f"{prefix}.custom.class"])
        elif name == "WEB_IDENTITY_TOKEN":
            names = {"role_arn": "role.arn", "role_session_name": "role.sessionName"}
            names |= {"web_identity_token_file": "webIdentityToken.file"}
            profile = {key: given[f"{prefix}.{end}"] for key, end in names.items() if given.get(f"{prefix}.{end}")}
            found = credentials.AssumeRoleWithWebIdentityProvider(
                load_config=lambda: {"profiles": {"default": profile}},
                client_creator=self._creator(session, prefix),
                profile_name="default",
                disable_env_vars=bool(profile),
            )
        else:
            found = self._provider_of_role(prefix)
        return found

    def _provider_of_role(self, prefix: str) -> object:
        """Return the provider of credentials of a role, which fetches new ones before they expire."""
        given = self.properties
        source = self._session(f"{prefix}.role.provider")
        more = {"RoleSessionName": given[f"{prefix}.role.sessionName"]}
        if given.get(f"{prefix}.role.externalId"):
            more["ExternalId"] = given[f"{prefix}.role.externalId"]
        arn = given[f"{prefix}.role.arn"]
        creator = self._creator(source, prefix)
        return _Assumed(source, creator, arn, more)

    def _creator(self, session: object, prefix: str) -> object:
        """Return the function that makes the client of the service that issues credentials."""
        endpoint = self.properties.get(f"{prefix}.role.stsEndpoint") or None

        def create(service: str, **options: object) -> object:
            found: object = session.create_client(service, endpoint_url=endpoint, **options)  # type: ignore[attr-defined]
            return found

        return create


class _Assumed:
    """A provider of credentials of a role."""

    METHOD = CANONICAL_NAME = "assume-role"

    def __init__(self, source: object, creator: object, arn: str, more: dict[str, str]) -> None:
        self._source, self._creator, self._arn, self._more = source, creator, arn, more

    def load(self) -> object:
        """Return credentials that renew themselves."""
        credentials = core("credentials")
        own = self._source.get_credentials()  # type: ignore[attr-defined]  # a session of botocore
        fetcher = credentials.AssumeRoleCredentialFetcher(self._creator, own, self._arn, extra_args=self._more)
        found: object = credentials.DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)
        return found


def _custom(name: str) -> object:
    """Return an instance of a Python class that is a provider of credentials for botocore."""
    module, _, kind = name.rpartition(".")
    try:
        made: object = getattr(import_module(module), kind)()
    except (ImportError, AttributeError, ValueError):
        raise AwsError(
            f"'{PROVIDER}.custom.class' must name a Python class that is a botocore.credentials.CredentialProvider, "
            f"as module.Class, got '{name}'"
        ) from None
    return made


def close_client(client: object | None) -> None:
    """Close the connections of a client, if there is one."""
    close = getattr(client, "close", None)
    if close is not None:
        close()


def passing(error: Exception) -> bool:
    """Return whether a request may succeed later: the service is overloaded or cannot be reached."""
    exceptions = core("exceptions")
    if isinstance(error, exceptions.ClientError):
        details = error.response
        status = details.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return details.get("Error", {}).get("Code") in THROTTLING or status >= 500
    return isinstance(error, (exceptions.HTTPClientError, exceptions.ConnectionError))


def code_of(error: Exception) -> str:
    """Return the code of an error of the service; empty for any other error."""
    if isinstance(error, core("exceptions").ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return ""


def client_properties(given: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a client, from options of a table without their ``aws.``.

    Tables have ``aws.credentials.basic.accesskeyid`` for ``aws.credentials.provider.basic.accesskeyid``, and so on.

    >>> client_properties({"region": "eu-west-1", "credentials.basic.accesskeyid": "a"})
    {'aws.region': 'eu-west-1', 'aws.credentials.provider.basic.accesskeyid': 'a'}
    """
    found = {f"aws.{key}": value for key, value in given.items()}
    for key in [key for key in found if key.startswith(_CREDENTIALS) and not key.startswith(PROVIDER)]:
        found.setdefault(f"{PROVIDER}.{key.removeprefix(_CREDENTIALS)}", found.pop(key))
    return found


def as_texts(properties: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of properties.

    Raises:
        TypeError: One of them is not a text.
    """
    found = dict(properties)
    for key, value in found.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"properties must be texts: that of {key!r} is a {type(value).__name__}")
    return found
