"""Databases behind JDBC URLs, reached through Python drivers."""

from __future__ import annotations

from flintstream.connectors.jdbc.database import JdbcError
from flintstream.connectors.jdbc.urls import register_jdbc_url

__all__ = ["JdbcError", "register_jdbc_url"]
