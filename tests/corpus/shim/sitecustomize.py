"""Replacement of the author's machines for a program of the corpus.

Python imports this module at its start, in the program and in its workers, because the runner puts this directory on
``PYTHONPATH``. No file of a program changes. Three things do:

* Kafka clients connect to the broker of the runner, whatever servers and passwords the program names, and those of
  PostgreSQL and MySQL to its database.
* Names of other hosts resolve to this machine, and other addresses are refused: no data leaves the machine.
* Under real PyFlink, the jars of the runner replace those that the program names, and the options of tables name its
  broker and its database.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import ipaddress
import json
import os
import re
import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

BROKER = os.environ.get("CORPUS_BROKER", "")
DATABASE = json.loads(os.environ.get("CORPUS_DATABASE") or "{}")
AWS = os.environ.get("CORPUS_AWS", "")
SERVERS = "bootstrap.servers"
SECURITY = ("security.", "sasl.", "ssl.", "oauth_cb")
"""Options of the author's broker; that of the runner asks for no name and no certificate."""


class _AfterImport(importlib.abc.MetaPathFinder):
    """Call a function with a module as soon as it has been imported."""

    def __init__(self, hooks: dict[str, Callable[[ModuleType], None]]) -> None:
        self.hooks = hooks

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        hook = self.hooks.pop(name, None)
        if hook is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                hook(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _local_broker(module: ModuleType) -> None:
    """Make the classes of confluent_kafka connect to the runner's broker."""

    def redirected(base: type) -> type:
        class Redirected(base):
            def __init__(self, *args: Any, **more: Any) -> None:
                if args and isinstance(args[0], dict):
                    args = (_servers(args[0]), *args[1:])
                super().__init__(*args, **_servers(more))

        Redirected.__name__ = base.__name__
        Redirected.__qualname__ = base.__qualname__
        return Redirected

    for name in ("Producer", "Consumer", "SerializingProducer", "DeserializingConsumer"):
        if isinstance(getattr(module, name, None), type):
            setattr(module, name, redirected(getattr(module, name)))


def _local_admin(module: ModuleType) -> None:
    """Do the same to the class that asks for its own name, so that no other can replace it."""
    client = module.AdminClient
    made = client.__init__

    def made_here(self: Any, conf: dict[Any, Any], **more: Any) -> None:
        made(self, _servers(conf), **more)

    client.__init__ = made_here


def _servers(config: dict[Any, Any]) -> dict[Any, Any]:
    for name in (SERVERS, "bootstrap_servers", "metadata.broker.list"):
        if name in config:
            config = {**config, name: BROKER}
    return {name: value for name, value in config.items() if not str(name).startswith(SECURITY)}


def _kafka_python(module: ModuleType) -> None:
    for name in ("KafkaProducer", "KafkaConsumer", "KafkaAdminClient"):
        client = getattr(module, name, None)
        if client is not None:
            setattr(module, name, functools.partial(_made_with_servers, client))


def _made_with_servers(client: Any, *args: Any, **more: Any) -> Any:
    return client(*args, **{**more, "bootstrap_servers": BROKER})


def _database(module: ModuleType) -> None:
    """Make a driver connect to the runner's database."""
    connect = module.connect

    def to_the_runner(*_: Any, **given: Any) -> Any:
        more = {name: value for name, value in given.items() if name not in {"dbname", "database", "db"}}
        login = dict(DATABASE)
        login["dbname" if module.__name__ == "psycopg" else "database"] = login.pop("name")
        return connect(**{**more, **login})

    module.connect = to_the_runner  # type: ignore[attr-defined]


def _aws(module: ModuleType) -> None:
    """Make clients of Amazon's services use the runner's server, whatever endpoint and keys the program names."""
    create = module.Session.create_client

    def create_client(self: Any, *args: Any, **more: Any) -> Any:
        login = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing", "aws_session_token": None}
        return create(self, *args, **{**more, **login, "endpoint_url": AWS})

    module.Session.create_client = create_client


def _flink_kafka(module: ModuleType) -> None:
    """Make PyFlink's Kafka builders and clients use the runner's broker."""
    for name in ("KafkaSourceBuilder", "KafkaSinkBuilder"):
        builder = getattr(module, name)
        given = builder.set_bootstrap_servers
        builder.set_bootstrap_servers = functools.partialmethod(_with_broker, given)
        for method in ("set_property", "set_properties"):
            if hasattr(builder, method):
                setattr(builder, method, functools.partialmethod(_property, getattr(builder, method)))


def _with_broker(self: Any, method: Any, *_: Any, **__: Any) -> Any:
    return method(self, BROKER)


def _property(self: Any, method: Any, *args: Any, **more: Any) -> Any:
    if args and args[0] == SERVERS:
        args = (SERVERS, BROKER)
    args = tuple(_servers(value) if isinstance(value, dict) else value for value in args)
    return method(self, *args, **{k: _servers(v) if isinstance(v, dict) else v for k, v in more.items()})


def _no_jars(module: ModuleType) -> None:
    """Make PyFlink ignore the jars that a program names: the runner's are on its class path."""
    for kind, methods in (("StreamExecutionEnvironment", ("add_jars", "add_classpaths")), ("TableConfig", ("set",))):
        for method in methods:
            if hasattr(module, kind):
                given = getattr(getattr(module, kind), method)
                setattr(getattr(module, kind), method, functools.partialmethod(_without_jars, given))
    if hasattr(module, "Configuration"):
        for method in ("set_string", "set"):
            if hasattr(module.Configuration, method):
                given = getattr(module.Configuration, method)
                setattr(module.Configuration, method, functools.partialmethod(_without_jars, given))


def _without_jars(self: Any, method: Any, *args: Any) -> Any:
    if method.__name__ in {"add_jars", "add_classpaths"} or args[0] in {"pipeline.jars", "pipeline.classpaths"}:
        return self
    return method(self, *args)


def _flink_tables(module: ModuleType) -> None:
    """Make tables of PyFlink use the runner's broker and database."""
    execute = module.TableEnvironment.execute_sql

    def execute_sql(self: Any, stmt: str) -> Any:
        return execute(self, _of_the_runner(stmt))

    module.TableEnvironment.execute_sql = execute_sql


def _of_the_runner(statement: str) -> str:
    if BROKER:
        statement = re.sub(r"('properties\.bootstrap\.servers'\s*=\s*)'[^']*'", rf"\1'{BROKER}'", statement)
    if DATABASE:
        place = f"{DATABASE['host']}:{DATABASE['port']}/{DATABASE['name']}"
        statement = re.sub(r"('url'\s*=\s*'jdbc:\w+://)[^']*'", rf"\g<1>{place}'", statement)
        for option, value in (("username", DATABASE["user"]), ("password", DATABASE["password"])):
            text = value.replace("'", "''").replace("\\", r"\\")
            statement = re.sub(rf"('{option}'\s*=\s*)'[^']*'", rf"\g<1>'{text}'", statement)
    return statement


def _stay_here() -> None:
    """Refuse connections to other machines, and resolve their names to this one."""
    connect, connect_ex, resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def checked(address: Any) -> Any:
        if isinstance(address, tuple) and not _is_here(_ip(address[0]), default=True):
            raise ConnectionRefusedError(f"the corpus keeps its programs on this machine: {address[0]}")
        return address

    def getaddrinfo(host: Any, *args: Any, **more: Any) -> Any:
        return resolve(host if not host or _ip(host) is not None else "127.0.0.1", *args, **more)

    socket.socket.connect = lambda self, address: connect(self, checked(address))  # type: ignore[method-assign]
    socket.socket.connect_ex = lambda self, address: connect_ex(self, checked(address))  # type: ignore[method-assign]
    socket.getaddrinfo = getaddrinfo


def _ip(host: Any) -> Any:
    """Return an address, or None for a name."""
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host)
    except ValueError:
        return None


def _is_here(address: Any, *, default: bool) -> bool:
    return default if address is None else address.is_loopback or address.is_unspecified


if os.environ.get("CORPUS"):
    _stay_here()
    hooks: dict[str, Callable[[ModuleType], None]] = {"kafka": _kafka_python}
    if BROKER:
        hooks.update({"confluent_kafka": _local_broker, "confluent_kafka.admin": _local_admin})
    if DATABASE:
        hooks.update({"psycopg": _database, "psycopg2": _database, "pymysql": _database})
    if AWS:
        hooks["botocore.session"] = _aws
    if os.environ.get("CORPUS_PYFLINK"):
        for name in ("datastream.stream_execution_environment", "table.table_config", "common.configuration"):
            hooks[f"pyflink.{name}"] = _no_jars
        hooks["pyflink.table.table_environment"] = _flink_tables
        if BROKER:
            hooks["pyflink.datastream.connectors.kafka"] = _flink_kafka
    sys.meta_path.insert(0, _AfterImport(hooks))
