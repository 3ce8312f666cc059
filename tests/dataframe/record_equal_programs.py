"""Records the rows that PyFlink has for :mod:`tests.dataframe.equal_programs`; arguments choose some of them."""

from __future__ import annotations

import json
import sys
from importlib import import_module

from tests.dataframe import equal_programs_more
from tests.dataframe.equal_programs import PROGRAMS, RECORDED, rows_of, tables


def recorded(mode, names):
    """Return the rows of all programs of a mode in the form of the Table API."""
    api = import_module("pyflink.table")
    settings = api.EnvironmentSettings
    t_env = api.TableEnvironment.create(settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    tables(t_env, mode)
    equal_programs_more.measures(t_env)
    found = {}
    for name in names:
        _, table, own = PROGRAMS[name]
        if own != mode:
            continue
        try:
            found[name] = rows_of(t_env.sql_query(table) if isinstance(table, str) else table(t_env), mode)
        except Exception as error:  # noqa: BLE001 - of any class
            print(name, "FAILED", str(error)[:300], flush=True)
        else:
            print(name, str(found[name])[:100], flush=True)
    return found


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(PROGRAMS)
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    known |= {name: rows for mode in ("batch", "streaming") for name, rows in recorded(mode, chosen).items()}
    kept = {name: known[name] for name in PROGRAMS if name in known}
    RECORDED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
