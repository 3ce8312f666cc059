"""The login to brokers of Amazon MSK with IAM: Java's AWS_MSK_IAM, as the tokens that the same brokers accept."""

from __future__ import annotations

import base64
import os
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.connectors.aws.client import AwsAccess, AwsError, core

if TYPE_CHECKING:
    from collections.abc import Mapping

MECHANISM = "AWS_MSK_IAM"
LIFETIME_SECONDS = 900
_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com")


@dataclass(frozen=True)
class MskTokens:
    """Makes tokens, for ``oauth_cb`` of librdkafka: requests to connect that the credentials have signed.

    >>> MskTokens("eu-west-1")
    MskTokens(region='eu-west-1')
    """

    region: str
    properties: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Those of the credentials, by Flink's names."""

    def __call__(self, config: str) -> tuple[str, float]:
        """Return a token, and when it expires (s since the epoch).

        Raises:
            AwsError: No provider has credentials.
            MissingDependencyError: boto3 is not installed.
        """
        credentials = AwsAccess({"aws.region": self.region, **dict(self.properties)}).credentials()
        if credentials is None:
            raise AwsError("the login to Amazon MSK finds no AWS credentials")
        request = core("awsrequest").AWSRequest(
            "GET", url=f"https://kafka.{self.region}.amazonaws.com/?Action=kafka-cluster%3AConnect"
        )
        until = time.time() + LIFETIME_SECONDS
        core("auth").SigV4QueryAuth(credentials, "kafka-cluster", self.region, LIFETIME_SECONDS).add_auth(request)
        signed = f"{request.url}&User-Agent=flintstream"
        return base64.urlsafe_b64encode(signed.encode()).decode().rstrip("="), until


def msk_tokens(servers: str, options: Mapping[str, str]) -> MskTokens:
    """Return what makes tokens for brokers, whose addresses have their region.

    Args:
        servers: the addresses. Without a region, it is that of the environment.
        options: those of Java's login module: ``awsProfileName``, ``awsRoleArn`` and ``awsRoleSessionName``.

    >>> msk_tokens("b-1.shop.abc.c2.kafka.eu-west-1.amazonaws.com:9098", {})
    MskTokens(region='eu-west-1')
    """
    found = _REGION.search(servers)
    default = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    given: dict[str, str] = {}
    if "awsRoleArn" in options:
        given["aws.credentials.provider"] = "ASSUME_ROLE"
        given["aws.credentials.provider.role.arn"] = options["awsRoleArn"]
        given["aws.credentials.provider.role.sessionName"] = options.get("awsRoleSessionName", "flintstream")
    elif "awsProfileName" in options:
        given["aws.credentials.provider"] = "PROFILE"
        given["aws.credentials.provider.profile.name"] = options["awsProfileName"]
    return MskTokens(default if found is None else found[1], tuple(given.items()))
