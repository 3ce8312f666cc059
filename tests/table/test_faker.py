"""Tables of fake rows, from the expressions that programs use."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("faker", reason="the extra 'faker' is not installed: make setup")

from flintstream.table._connectors.fake.expressions import maker_of
from flintstream.table._connectors.fake.patterns import matching
from flintstream.table._connectors.fake.values import list_names
from flintstream.table._errors import SqlError

PUBLIC = """
#{Name.fullName}|#{Name.full_name}|#{Name.first_name}|#{name.username}|#{name._first_name}|#{Name.name}|#{name.title}
#{Internet.publicIpV4Address}|#{Internet.userAgentAny}|#{Internet.emailAddress}|#{internet.emailAddress}|#{Internet.uuid}
#{Internet.UUID}|#{Internet.url}|#{Internet.userAgent}|#{Address.streetAddress}|#{Address.city}|#{Address.postcode}
#{Address.country}|#{Address.fullAddress}|#{Address.state}|#{Address.zipCode}|#{address.latitude}|#{Address.full_address}
#{harry_potter.character}|#{harry_potter.characters}|#{harry_potter.spell}|#{harry_potter.spells}|#{harry_potter.location}
#{harry_potter.quote}|#{superhero.name}|#{superhero.power}|#{GameOfThrones.house}|#{RickAndMorty.character}|#{beer.name}
#{RickAndMorty.location}|#{Space.nasaSpaceCraft}|#{Space.star}|#{HitchhikersGuideToTheGalaxy.starship}|#{country.name}
#{Commerce.productName}|#{Commerce.brand}|#{Commerce.department}|#{Commerce.vendor}|#{Company.name}|#{animal.name}
#{phone_number.cellPhone}|#{PhoneNumber.cellPhone}|#{gender.types}|#{date.birthday '1','100'}|#{date.birthday ''18'',''50''}
#{funnyName.name}|#{Currency.code}|#{/GreekPhilosopher.name}|#{IdNumber.valid}|#{bothify '????##@gmail.com'}
#{number.number_between '1','100'}|#{number.numberbetween '0','1000'}|#{Number.randomDouble '2','1','150'}
#{options.option '0','1'}|#{Options.option 'chrome', 'firefox', 'safari')}|#{numerify 'user_##'}|#{Lorem.words '2'}
#{date.past '100' 'DAYS'}|#{date.past '15','5','SECONDS'}|#{date.future '3','HOURS'}|#{regexify '(a|b){1}'}
"""


def test_expressions_of_public_programs_make_values():
    for expression in re.split(r"[|\n](?=#)", PUBLIC.strip()):
        assert maker_of(expression.replace("''", "'").replace("/", ""))() not in {None, ""}, expression


ARGUMENTS = {
    "between": "'2020-01-01 00:00:00','2020-01-02T00:00:00'",
    "numberbetween": "'1','5'",
    "nextint": "'1','5'",
    "randomdouble": "'2','0','5'",
    "digits": "'3'",
    "number": "'3'",
    "fixedstring": "'4'",
    "past": "'5','1','SECONDS','yyyy-MM-dd'",
    "future": "'5','1','SECONDS','yyyy-MM-dd'",
    "option": "'x'",
}


def test_each_name_makes_values():
    for name in list_names():
        given = ARGUMENTS.get(name.partition(".")[2], "'x?#'" if name.endswith("ify") else "")
        make = maker_of(f"#{{{name} {given}}}")
        assert make() not in {None, ""}, name
        assert given or len({str(make()) for _ in range(20)}) > 1, name


@given(
    st.from_regex(r"\A[a-c]{1,3}(\(x\|yz\)[0-9]?)?\Z"),
    st.integers(0, 3),
    st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}"]),
)
def test_texts_of_a_pattern_match_it(start, count, repeats):
    pattern = f"{start}([a-f]|\\d\\.){repeats}[^x]{{{count}}}"
    assert re.fullmatch(pattern.replace("(x|yz)", "(?:x|yz)"), matching(pattern)())


def rows(t_env, columns, options, number=200):
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE fakes ({columns}) WITH ('connector' = 'faker', 'number-of-rows' = '{number}'{given})"
    )
    with t_env.execute_sql("SELECT * FROM fakes").collect() as found:
        return [tuple(row) for row in found]


def test_values_have_the_types_of_their_columns(t_env):
    columns = {
        "b": ("BIGINT", "#{number.numberBetween ''0'',''20000000000''}"),
        "i": ("INT", "4#{regexify ''[0-9]{2}''}"),
        "d": ("DECIMAL(6, 4)", "#{Number.randomDouble ''4'',''0'',''10''}"),
        "x": ("DOUBLE", "220"),
        "o": ("BOOLEAN", "#{bool.bool}"),
        "ts": ("TIMESTAMP(3)", "#{date.past ''15'',''5'',''SECONDS''}"),
        "day": ("DATE", "#{date.past ''100'',''DAYS''}"),
        "s": ("STRING", "-"),
    }
    options = {f"fields.{name}.expression": item for name, (_, item) in columns.items()}
    found = rows(t_env, ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items()), options)
    assert len(found) == 200
    b, i, d, x, o, ts, day, s = found[0]
    assert (type(b), type(d), type(x), type(o), s) == (int, Decimal, float, bool, "-")
    assert 400 <= i <= 499
    assert x == 220.0
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    assert now - timedelta(seconds=60) < ts < now - timedelta(seconds=4)
    assert now.date() - timedelta(days=101) <= day <= now.date()


def test_arrays_maps_and_rows_have_expressions_of_their_own(t_env):
    options = {
        "fields.spells.expression": "#{harry_potter.spell}",
        "fields.spells.length": "3",
        "fields.counts.key.expression": "#{regexify ''[a-z]{8}''}",
        "fields.counts.value.expression": "#{number.numberBetween ''1'',''9''}",
        "fields.counts.length": "2",
        "fields.address.city.expression": "#{Address.city}",
        "fields.address.zip.expression": "#{Address.zipCode}",
    }
    columns = "spells ARRAY<STRING>, counts MAP<STRING, INT>, address ROW<city STRING, zip STRING>"
    spells, counts, address = rows(t_env, columns, options, 1)[0]
    assert (len(spells), len(counts), len(address)) == (3, 2, 2)
    assert all(1 <= count < 9 for count in counts.values())


def test_a_part_of_the_values_is_null(t_env):
    options = {"fields.a.expression": "#{superhero.name}", "fields.a.null-rate": "0.5", "fields.b.expression": "x"}
    found = rows(t_env, "a STRING, b STRING", options)
    assert 50 < sum(a is None for a, _ in found) < 150
    assert {b for _, b in found} == {"x"}


def test_names_come_from_a_locale(t_env):
    options = {"fields.a.expression": "#{Address.state}", "fields.a.locale": "de-DE"}
    assert {"Bayern", "Berlin", "Hessen", "Sachsen"} & {a for (a,) in rows(t_env, "a STRING", options)}


@pytest.mark.parametrize(
    ("kind", "expression", "message"),
    [
        ("STRING", "#{Name.fulName}", "column 'a': #{Name.fulName} is unknown; did you mean 'name.fullname'"),
        ("STRING", "#{number.numberBetween ''x'',''3''}", "does not take the arguments 'x', '3'"),
        ("STRING", "#{Name.fullName", "has a part that cannot be parsed"),
        ("STRING", "#{regexify ''(a''}", "has no end at character 3"),
        ("INT", "#{Name.fullName}", "are not of the type INT"),
        ("STRING", None, "the column 'a' needs the option 'fields.a.expression'"),
    ],
)
def test_a_wrong_expression_is_an_error_of_the_statement(t_env, kind, expression, message):
    with pytest.raises(SqlError, match=re.escape(message)):
        rows(t_env, f"a {kind}", {} if expression is None else {"fields.a.expression": expression})


def test_an_expression_for_a_computed_column_has_no_effect(t_env):
    t_env.execute_sql(
        "CREATE TABLE logs (who STRING, at_time AS PROCTIME()) WITH ('connector' = 'faker', 'number-of-rows' = '2', "
        "'fields.who.expression' = '#{dr_who.the_doctors}', 'fields.at_time.expression' = 'x')"
    )
    with pytest.warns(UserWarning, match=r"'fields\.at_time\.expression' is unknown and has no effect"):
        result = t_env.execute_sql("SELECT who FROM logs")
    with result.collect() as found:
        assert all(row[0].endswith("Doctor") for row in found)
