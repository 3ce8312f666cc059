"""The settings of the command line and of the configuration file, and ``flintstream config``, which shows them."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from flintstream.cli.printable import printable
from flintstream.common._text.secrets import hide_secrets, without_secrets
from flintstream.engine.spark.submitted import defaults_file, flags
from flintstream.options.config_file import config_file, has_counterpart, read_config
from flintstream.options.execution import MASTER, PARALLELISM, PYTHON_EXECUTABLE
from flintstream.options.table import OPTIONS, check_values, option_of, unknown_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.options.option import Option

__all__ = ["config_command", "config_option", "settings_option", "settings_with_file"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

COMMAND_LINE = "-D"
DEFAULT = "default"


def _settings(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"must be key=value, but got {without_secrets(value)!r}", context, parameter)
        settings[key.strip()] = text.strip()
    try:
        check_values(settings)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    return settings


settings_option = click.option(
    "-D", "settings", multiple=True, metavar="KEY=VALUE", callback=_settings, help="A configuration option."
)

config_option = click.option(
    "--config",
    metavar="PATH",
    help="Flink's config.yaml, or a directory that contains it; by default, FLINK_CONF_DIR.",
)


class Effective(NamedTuple):
    """The value of a key, and where it comes from."""

    value: str | None
    source: str


def file_settings(given: str | None) -> dict[str, Effective]:
    """Return the settings of the configuration file that have an effect here.

    Raises:
        click.ClickException: The file does not exist, cannot be read, or has an invalid value.
    """
    try:
        path = config_file(given, os.environ)
        entries = {} if path is None else read_config(path)
    except ValueError as error:
        raise click.ClickException(printable(str(error))) from None
    ignored = sorted(key for key in entries if not has_counterpart(key))
    if ignored:
        _log.debug("keys in %s that have no effect: %s", path, ", ".join(ignored))
    taken = {key: Effective(*setting) for key, setting in entries.items() if has_counterpart(key)}
    for key, setting in taken.items():
        option = option_of(key)
        try:
            if option is not None:
                option.parse(setting.value, key)
        except ValueError as error:
            raise click.ClickException(printable(f"{setting.source}: {error}")) from None
    return taken


def settings_with_file(settings: Mapping[str, str], config: str | None) -> dict[str, str]:
    """Return the settings of the command line, and those of the configuration file that it does not have.

    Raises:
        click.ClickException: The file does not exist, cannot be read, or has an invalid value.
    """
    merged = {key: str(setting.value) for key, setting in file_settings(config).items()}
    return _over(merged, dict(settings))


def _over(lower: Mapping[str, T], upper: Mapping[str, T]) -> dict[str, T]:
    """Return both; a key of the upper ones also replaces other spellings of it."""
    hidden = {key for item in upper if (option := option_of(item)) for key in option.keys}
    return {**{key: value for key, value in lower.items() if key not in hidden}, **upper}


def effective(settings: Mapping[str, str], config: str | None) -> dict[str, Effective]:
    """Return the value of every option and of every other key that is set, before the program sets its own."""
    given = _over(file_settings(config), {key: Effective(value, COMMAND_LINE) for key, value in settings.items()})
    found: dict[str, Effective] = {}
    for option in OPTIONS:
        key = option.key_in(given)
        outside = _outside(option, key is not None)
        if outside is not None or key is None:
            found[option.key] = outside or Effective(option.default_text(), DEFAULT)
        else:
            setting = given[key]
            spelled = "" if key == option.key else f", as {key}"
            found[option.key] = Effective(setting.value, f"{setting.source}{spelled}")
    return found | {key: setting for key, setting in given.items() if option_of(key) is None}


def _outside(option: Option[Any], given: bool) -> Effective | None:
    """Return the value of an option from Spark's environment, if that counts."""
    submitted, file = flags(), defaults_file()
    if option is MASTER and "spark.master" in submitted:
        return Effective(submitted["spark.master"], "PYSPARK_SUBMIT_ARGS")
    if given:
        return None
    if option is MASTER and "spark.master" in file:
        return Effective(file["spark.master"], "spark-defaults.conf")
    if option is PARALLELISM and "spark.default.parallelism" in (conf := {**file, **submitted}):
        return Effective(conf["spark.default.parallelism"], "spark.default.parallelism")
    if option is PYTHON_EXECUTABLE and os.environ.get("PYSPARK_PYTHON"):
        return Effective(os.environ["PYSPARK_PYTHON"], "PYSPARK_PYTHON")
    return None


@click.command("config", context_settings={"help_option_names": ["-h", "--help"]})
@config_option
@settings_option
@click.option("--set", "only_set", is_flag=True, help="Show only keys that are set.")
def config_command(config: str | None, settings: dict[str, str], only_set: bool) -> None:
    """Show the value of each key, where it comes from, and its default.

    A program starts with these values, and may override them. The output is a valid configuration file, except that
    passwords are hidden.
    """
    found = effective(settings, config)
    misspelled = unknown_keys(found)
    hidden = hide_secrets({key: setting.value or "" for key, setting in found.items()})
    for key in sorted(found):
        setting = found[key]
        if only_set and setting.source == DEFAULT:
            continue
        click.echo(printable(_line(key, hidden[key], setting, misspelled)))


def _line(key: str, value: str, setting: Effective, misspelled: Mapping[str, str | None]) -> str:
    if setting.value is None:
        return f"# {key}: not set"
    notes = [setting.source]
    option = option_of(key)
    if setting.source != DEFAULT and option is not None:
        default = option.default_text()
        notes.append("no default" if default is None else f"default {default}")
    if key in misspelled:
        nearest = misspelled[key]
        notes.append("unknown" if nearest is None else f"unknown: did you mean '{nearest}'?")
    return f"{f'{key}: {_quote(value)}':<70}  # {', '.join(notes)}"


def _quote(value: str) -> str:
    """Return a value as YAML has it."""
    if value and value[0].isalnum() and value.strip() == value and not {": ", " #"} & {*_pairs(value)}:
        return value
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def _pairs(value: str) -> list[str]:
    return [value[n : n + 2] for n in range(len(value))]
