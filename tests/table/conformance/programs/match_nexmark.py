# mypy: disable-error-code="import-not-found,import-untyped"
"""The patterns of Nexmark's bids, with equal times, on 300 bids in the order of their times."""

from benchmarks.nexmark.patterns import PATTERNS
from pyflink.common import Types
from pyflink.table import Schema
from tests.table.conformance.registry import program

COUNT = 300
STEPS = (0, 0, 1, 5, 40, 300)


def bids():
    """Return auctions, bidders, times in ms, and prices: the same on each call."""
    number, ms, found = 7, 0, []
    for _ in range(COUNT):
        number = number * 48_271 % 2_147_483_647
        ms += STEPS[number % 6]
        found.append((number // 7 % 4, number // 31 % 3, ms, 100 + number // 101 % 900 * (1 + number // 1009 % 60)))
    return found


def declare(env, t_env):
    env.set_parallelism(1)
    kinds = Types.ROW_NAMED(["auction", "bidder", "ms", "price"], [Types.LONG()] * 4)
    schema = (
        Schema.new_builder()
        .column("auction", "BIGINT")
        .column("bidder", "BIGINT")
        .column("ms", "BIGINT")
        .column("price", "BIGINT")
        .column_by_expression("dateTime", "TO_TIMESTAMP_LTZ(ms, 3)")
        .watermark("dateTime", "`dateTime` - INTERVAL '1' SECOND")
        .build()
    )
    t_env.create_temporary_view("bid", t_env.from_data_stream(env.from_collection(bids(), kinds), schema))


@program(level=2, order="folded")
def match_nexmark_falls(env, t_env):
    declare(env, t_env)
    return t_env.sql_query(PATTERNS["cep0"])


@program(level=2, order="folded")
def match_nexmark_cheap_bids(env, t_env):
    declare(env, t_env)
    return t_env.sql_query(PATTERNS["cep1"])


@program(level=2, order="folded")
def match_nexmark_cheap_bids_from_each(env, t_env):
    declare(env, t_env)
    return t_env.sql_query(PATTERNS["cep2"])


@program(level=2, order="folded")
def match_nexmark_drops(env, t_env):
    declare(env, t_env)
    return t_env.sql_query(PATTERNS["cep3"])
