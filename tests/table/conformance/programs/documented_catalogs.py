# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator"
"""What the pages on catalogs, modules, common concepts and determinism show, with other names and data."""

from pyflink.table import DataTypes, TableSchema
from pyflink.table.catalog import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    ObjectPath,
)
from pyflink.table.expressions import col
from tests.table.conformance.registry import BOTH, program, script
from tests.table.conformance.shapes import FAILS, outcomes


def _answers(**calls):
    """Return what each call answers, or that it fails, in their order."""
    answers = []
    for name, call in calls.items():
        try:
            answers.append((name, _plain(call())))
        except Exception:  # noqa: BLE001 - errors are results here
            answers.append((name, FAILS))
    return answers


def _plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else type(value).__name__


def _schema():
    return TableSchema.builder().field("name", DataTypes.STRING()).field("age", DataTypes.INT()).build()


@program(3)
def documented_databases_of_a_catalog(env, t_env):
    t_env.execute_sql("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    catalog = t_env.get_catalog("shop")
    database = CatalogDatabase.create_instance({"k1": "v1"}, None)
    other = CatalogDatabase.create_instance({"k2": "v2"}, "said")
    return _answers(
        created=lambda: catalog.create_database("mydb", database, False),
        again=lambda: catalog.create_database("mydb", database, False),
        ignored=lambda: catalog.create_database("mydb", other, True),
        properties=lambda: sorted(catalog.get_database("mydb").get_properties().items()),
        comment=lambda: catalog.get_database("mydb").get_comment(),
        altered=lambda: catalog.alter_database("mydb", other, False),
        altered_properties=lambda: sorted(catalog.get_database("mydb").get_properties().items()),
        altered_comment=lambda: catalog.get_database("mydb").get_comment(),
        missing=lambda: catalog.get_database("none"),
        altered_missing=lambda: catalog.alter_database("none", other, False),
        altered_ignored=lambda: catalog.alter_database("none", other, True),
        exists=lambda: catalog.database_exists("mydb"),
        exists_not=lambda: catalog.database_exists("none"),
        listed=lambda: sorted(catalog.list_databases()),
        default=catalog.get_default_database,
        used=lambda: t_env.use_catalog("shop"),
        used_database=lambda: t_env.use_database("mydb"),
        current=lambda: [t_env.get_current_catalog(), t_env.get_current_database()],
        missing_database=lambda: t_env.use_database("none"),
        missing_catalog=lambda: t_env.use_catalog("none"),
        catalogs=lambda: sorted(t_env.list_catalogs()),
        databases=lambda: sorted(t_env.list_databases()),
        tables=t_env.list_tables,
        left=lambda: t_env.use_catalog("default_catalog"),
        dropped=lambda: catalog.drop_database("mydb", False),
        dropped_again=lambda: catalog.drop_database("mydb", False),
        dropped_ignored=lambda: catalog.drop_database("mydb", True),
        listed_again=catalog.list_databases,
    )


@program(3)
def documented_tables_of_a_catalog(env, t_env):
    t_env.execute_sql("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    catalog = t_env.get_catalog("shop")
    catalog.create_database("mydb", CatalogDatabase.create_instance({}, None), False)
    path, other = ObjectPath("mydb", "mytable"), ObjectPath("mydb", "my_new_table")
    options = {"connector": "datagen", "number-of-rows": "2"}
    table = CatalogBaseTable.create_table(schema=_schema(), properties=options, comment="my comment")
    changed = CatalogBaseTable.create_table(schema=_schema(), properties={"connector": "blackhole"}, comment="other")
    return _answers(
        path=lambda: [path.get_database_name(), path.get_object_name(), path.get_full_name(), str(path)],
        created=lambda: catalog.create_table(path, table, False),
        again=lambda: catalog.create_table(path, table, False),
        no_database=lambda: catalog.create_table(ObjectPath("none", "mytable"), table, False),
        ignored=lambda: catalog.create_table(path, table, True),
        options=lambda: sorted(catalog.get_table(path).get_options().items()),
        comment=lambda: catalog.get_table(path).get_comment(),
        columns=lambda: catalog.get_table(path).get_schema().get_field_names(),
        kinds=lambda: [type(catalog.get_table(path)).__name__, catalog.get_table(path).get_description()],
        missing=lambda: catalog.get_table(other),
        exists=lambda: catalog.table_exists(path),
        exists_not=lambda: catalog.table_exists(other),
        listed=lambda: catalog.list_tables("mydb"),
        listed_of_none=lambda: catalog.list_tables("none"),
        altered=lambda: catalog.alter_table(path, changed, False),
        altered_options=lambda: sorted(catalog.get_table(path).get_options().items()),
        altered_missing=lambda: catalog.alter_table(other, changed, False),
        renamed=lambda: catalog.rename_table(path, "my_new_table", False),
        renamed_missing=lambda: catalog.rename_table(path, "x", False),
        renamed_ignored=lambda: catalog.rename_table(path, "x", True),
        listed_again=lambda: catalog.list_tables("mydb"),
        shown=lambda: len(
            t_env.execute_sql("SHOW CREATE TABLE shop.mydb.my_new_table").get_table_schema().get_field_names()
        ),
        by_path=lambda: t_env.from_path("shop.mydb.my_new_table").get_schema().get_field_names(),
        dropped=lambda: catalog.drop_table(other, False),
        dropped_again=lambda: catalog.drop_table(other, False),
        dropped_ignored=lambda: catalog.drop_table(other, True),
        listed_last=lambda: catalog.list_tables("mydb"),
    )


@program(3)
def documented_views_of_a_catalog(env, t_env):
    t_env.execute_sql("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    catalog = t_env.get_catalog("shop")
    catalog.create_database("mydb", CatalogDatabase.create_instance({}, None), False)
    path = ObjectPath("mydb", "myview")
    view = CatalogBaseTable.create_view(
        original_query="select 'x' as name, 1 as age",
        expanded_query="select 'x' as name, 1 as age",
        schema=_schema(),
        properties={},
        comment="This is a view",
    )
    return _answers(
        created=lambda: catalog.create_table(path, view, False),
        views=lambda: catalog.list_views("mydb"),
        tables=lambda: catalog.list_tables("mydb"),
        comment=lambda: catalog.get_table(path).get_comment(),
        exists=lambda: catalog.table_exists(path),
        altered=lambda: catalog.alter_table(path, view, False),
        rows=lambda: [str(row) for row in t_env.execute_sql("SELECT * FROM shop.mydb.myview").collect()],
        renamed=lambda: catalog.rename_table(path, "my_new_view", False),
        views_again=lambda: catalog.list_views("mydb"),
        dropped=lambda: catalog.drop_table(ObjectPath("mydb", "my_new_view"), False),
        views_last=lambda: catalog.list_views("mydb"),
    )


@program(3)
def documented_partitions_of_a_catalog(env, t_env):
    t_env.execute_sql("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    catalog = t_env.get_catalog("shop")
    catalog.create_database("mydb", CatalogDatabase.create_instance({}, None), False)
    path, flat = ObjectPath("mydb", "mytable"), ObjectPath("mydb", "flat")
    schema = (
        TableSchema.builder()
        .field("name", DataTypes.STRING())
        .field("second", DataTypes.STRING())
        .field("third", DataTypes.STRING())
        .build()
    )
    options = {"connector": "blackhole"}
    table = CatalogBaseTable.create_table(
        schema=schema, partition_keys=["second", "third"], properties=options, comment=None
    )
    catalog.create_table(path, table, False)
    catalog.create_table(flat, CatalogBaseTable.create_table(schema=schema, properties=options, comment=None), False)
    spec = CatalogPartitionSpec({"third": "2010", "second": "bob"})
    part = CatalogPartitionSpec({"second": "bob"})
    partition = CatalogPartition.create_instance({"k": "v"}, "my partition")
    other = CatalogPartition.create_instance({"k": "w"}, "other")
    return _answers(
        spec=lambda: sorted(spec.get_partition_spec().items()),
        created=lambda: catalog.create_partition(path, spec, partition, False),
        again=lambda: catalog.create_partition(path, spec, partition, False),
        ignored=lambda: catalog.create_partition(path, spec, partition, True),
        not_partitioned=lambda: catalog.create_partition(flat, spec, partition, False),
        a_part=lambda: catalog.create_partition(path, part, partition, False),
        exists=lambda: catalog.partition_exists(path, spec),
        exists_not=lambda: catalog.partition_exists(path, part),
        properties=lambda: sorted(catalog.get_partition(path, spec).get_properties().items()),
        comment=lambda: catalog.get_partition(path, spec).get_comment(),
        altered=lambda: catalog.alter_partition(path, spec, other, False),
        altered_properties=lambda: sorted(catalog.get_partition(path, spec).get_properties().items()),
        listed=lambda: len(catalog.list_partitions(path)),
        listed_part=lambda: len(catalog.list_partitions(path, part)),
        listed_flat=lambda: len(catalog.list_partitions(flat)),
        dropped=lambda: catalog.drop_partition(path, spec, False),
        dropped_again=lambda: catalog.drop_partition(path, spec, False),
        dropped_ignored=lambda: catalog.drop_partition(path, spec, True),
        missing=lambda: catalog.get_partition(path, spec),
        listed_last=lambda: len(catalog.list_partitions(path)),
    )


@program(3)
def documented_functions_of_a_catalog(env, t_env):
    t_env.execute_sql("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    catalog = t_env.get_catalog("shop")
    catalog.create_database("mydb", CatalogDatabase.create_instance({}, None), False)
    path = ObjectPath("mydb", "myfunc")
    function = CatalogFunction.create_instance(class_name="my.python.udf")
    other = CatalogFunction.create_instance(class_name="my.other.udf")
    return _answers(
        created=lambda: catalog.create_function(path, function, False),
        again=lambda: catalog.create_function(path, function, False),
        ignored=lambda: catalog.create_function(path, function, True),
        altered=lambda: catalog.alter_function(path, other, False),
        class_name=lambda: catalog.get_function(path).get_class_name(),
        language=lambda: str(catalog.get_function(path).get_function_language()),
        exists=lambda: catalog.function_exists(path),
        exists_not=lambda: catalog.function_exists(ObjectPath("mydb", "none")),
        listed=lambda: catalog.list_functions("mydb"),
        missing=lambda: catalog.get_function(ObjectPath("mydb", "none")),
        altered_missing=lambda: catalog.alter_function(ObjectPath("mydb", "none"), other, False),
        dropped=lambda: catalog.drop_function(path, False),
        dropped_again=lambda: catalog.drop_function(path, False),
        dropped_ignored=lambda: catalog.drop_function(path, True),
        listed_again=lambda: catalog.list_functions("mydb"),
    )


@program(3)
def documented_modules(env, t_env):
    return _answers(
        modules=t_env.list_modules,
        full=lambda: [[module.name(), module.used()] for module in t_env.list_full_modules()],
        used=lambda: t_env.use_modules("core"),
        unknown=lambda: t_env.use_modules("hive", "core"),
        twice=lambda: t_env.use_modules("core", "core"),
        unloaded_unknown=lambda: t_env.unload_module("hive"),
        unloaded=lambda: t_env.unload_module("core"),
        none=t_env.list_modules,
        none_full=lambda: [module.name() for module in t_env.list_full_modules()],
    )


@program(3, modes=BOTH)
def documented_common_concepts(env, t_env):
    rows = [(1, "ann", "FRANCE", 10), (1, "ann", "FRANCE", 5), (2, "bob", "PERU", 7)]
    orders = t_env.from_elements(rows, ["cID", "cName", "cCountry", "revenue"])
    t_env.create_temporary_view("Orders", orders)
    t_env.execute_sql("CREATE CATALOG custom_catalog WITH ('type' = 'generic_in_memory')")
    t_env.execute_sql("CREATE DATABASE custom_catalog.custom_database")
    t_env.execute_sql("CREATE DATABASE custom_catalog.other_database")
    t_env.execute_sql("CREATE CATALOG other_catalog WITH ('type' = 'generic_in_memory')")
    t_env.execute_sql("CREATE DATABASE other_catalog.other_database")
    t_env.use_catalog("custom_catalog")
    t_env.use_database("custom_database")
    for name in (
        "exampleView",
        "other_database.exampleView",
        "`example.View`",
        "other_catalog.other_database.exampleView",
        "none.exampleView",
    ):
        try:
            t_env.create_temporary_view(name, orders)
        except Exception:  # noqa: BLE001 - errors are results here
            t_env.create_temporary_view("failed", orders)
    counts = t_env.from_elements([(1, "Fhello"), (2, "Gello")], ["count", "word"])
    shadowed = "CREATE TEMPORARY TABLE shade (a INT, b STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    return [
        sorted(t_env.list_tables()),
        sorted(t_env.list_temporary_views()),
        *outcomes(
            lambda: t_env.from_path("exampleView"),
            lambda: t_env.from_path("`example.View`"),
            lambda: t_env.from_path("example.View"),
            lambda: t_env.from_path("other_database.exampleView"),
            lambda: t_env.from_path("other_catalog.other_database.exampleView"),
            lambda: t_env.from_path("custom_catalog.custom_database.exampleView"),
            lambda: t_env.from_path("default_catalog.default_database.Orders"),
            lambda: t_env.from_path("Orders"),
            lambda: (
                orders.filter(orders.cCountry == "FRANCE")
                .group_by(orders.cID, orders.cName)
                .select(orders.cID, orders.cName, orders.revenue.sum.alias("revSum"))
            ),
            lambda: t_env.sql_query(
                "SELECT cID, cName, SUM(revenue) AS revSum FROM exampleView WHERE cCountry = 'FRANCE' GROUP BY cID, cName"
            ),
            lambda: counts.where(counts.word.like("F%")).union_all(counts),
            lambda: t_env.sql_query(f"SELECT cName FROM {orders}").where(col("cName") == "ann"),
            lambda: (
                t_env.execute_sql("CREATE TABLE shade (x INT) WITH ('connector' = 'blackhole')")
                and t_env.execute_sql(shadowed)
                and t_env.sql_query("SELECT COUNT(*) AS c FROM shade WHERE a IS NOT NULL")
            ),
            lambda: t_env.drop_temporary_table("shade") and t_env.sql_query("SELECT a FROM shade"),
        ),
    ]


CLICKS = """
CREATE TABLE clicks (uid VARCHAR(128), cTime TIMESTAMP(3), url VARCHAR(256)) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{directory}/clicks');
INSERT INTO clicks VALUES ('Mary', TIMESTAMP '2022-08-22 12:00:01', '/home'), ('Bob', TIMESTAMP '2022-08-22 12:00:01', '/home'), ('Mary', TIMESTAMP '2022-08-22 12:00:05', '/prod?id=1'), ('Liz', TIMESTAMP '2022-08-22 12:01:00', '/home'), ('Mary', TIMESTAMP '2022-08-22 12:01:30', '/cart'), ('Bob', TIMESTAMP '2022-08-22 12:01:35', '/prod?id=3');
"""

script("documented_dynamic_tables", f"""{CLICKS}
SELECT uid, COUNT(url) AS c FROM clicks GROUP BY uid;
SELECT * FROM clicks WHERE cTime BETWEEN TIMESTAMPADD(MINUTE, -2, CURRENT_TIMESTAMP) AND CURRENT_TIMESTAMP;
SELECT COUNT(*) AS c FROM (SELECT UUID() AS uuid, * FROM clicks LIMIT 3) AS t WHERE CHAR_LENGTH(uuid) = 36;
SELECT COUNT(DISTINCT uuid) AS c FROM (SELECT UUID() AS uuid, * FROM clicks) AS t;
SELECT COUNT(*) AS c FROM (SELECT CURRENT_TIMESTAMP AS now_is, * FROM clicks) AS t WHERE now_is > TO_TIMESTAMP_LTZ(0, 3);
SELECT uid, RANK() OVER (ORDER BY lastAction) AS r FROM (SELECT uid, MAX(cTime) AS lastAction FROM clicks GROUP BY uid);
SELECT user, COUNT(url) AS c FROM clicks GROUP BY user;
""", modes=BOTH, order="folded")  # fmt: skip

script("documented_determinism", f"""{CLICKS}
CREATE TABLE ups (uid VARCHAR(128), c BIGINT, t STRING, PRIMARY KEY (uid) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE plain (uid VARCHAR(128), c BIGINT, t STRING) WITH ('connector' = 'blackhole');
CREATE TABLE texts (uid VARCHAR(128), url VARCHAR(256), t STRING) WITH ('connector' = 'blackhole');
INSERT INTO ups SELECT uid, COUNT(url), CAST(NOW() AS STRING) FROM clicks GROUP BY uid;
INSERT INTO plain SELECT uid, COUNT(url), CAST(NOW() AS STRING) FROM clicks GROUP BY uid;
INSERT INTO plain SELECT uid, COUNT(url), UUID() FROM clicks GROUP BY uid;
INSERT INTO texts SELECT uid, url, UUID() FROM clicks;
SELECT t, COUNT(*) AS n FROM (SELECT uid, COUNT(url) AS c, 'x' AS t FROM clicks GROUP BY uid) AS q GROUP BY t;
SELECT COUNT(*) AS n FROM (SELECT uid, COUNT(url) AS c, UUID() AS t FROM clicks GROUP BY uid) AS q WHERE t IS NOT NULL;
SELECT n, COUNT(*) AS m FROM (SELECT CHAR_LENGTH(UUID()) AS n, COUNT(url) AS c FROM clicks GROUP BY uid) AS q GROUP BY n;
INSERT INTO texts SELECT a.uid, b.url, CAST(NOW() AS STRING) FROM clicks AS a LEFT JOIN clicks AS b ON a.uid = b.uid;
INSERT INTO texts SELECT a.uid, b.url, 'x' FROM clicks AS a LEFT JOIN clicks AS b ON a.uid = b.uid;
INSERT INTO plain SELECT uid, SUM(c), t FROM (SELECT uid, COUNT(url) AS c, CAST(RAND() AS STRING) AS t FROM clicks GROUP BY uid) AS q GROUP BY uid, t;
""", modes=BOTH, order="folded", config={"table.optimizer.non-deterministic-update.strategy": "TRY_RESOLVE"})  # fmt: skip

script("documented_core_module", """
UNLOAD MODULE core;
SHOW MODULES;
SHOW FUNCTIONS;
SELECT UPPER('a') AS x, 1 + 1 AS y;
SELECT ARRAY_MAX(ARRAY[1, 2]) AS x;
SELECT COUNT(*) AS c, SUM(a) AS s FROM (VALUES (1), (2)) AS v (a);
SELECT ABS(-1) AS x;
SELECT COALESCE(CAST(NULL AS INT), 1) AS x;
SELECT REGEXP_COUNT('aa', 'a') AS x;
USE MODULES core;
LOAD MODULE core;
SHOW FULL MODULES;
SELECT ARRAY_MAX(ARRAY[1, 2]) AS x;
USE MODULES core;
SHOW MODULES;
""")  # fmt: skip

script("documented_determinism_of_results", f"""{CLICKS}
SELECT uid, COUNT(url) AS c, CHAR_LENGTH(UUID()) AS n FROM clicks GROUP BY uid;
SELECT uid, url, CHAR_LENGTH(UUID()) AS n FROM clicks;
SELECT a.uid, b.n FROM clicks AS a JOIN (SELECT uid, CHAR_LENGTH(UUID()) AS n, COUNT(*) AS c FROM clicks GROUP BY uid) AS b ON a.uid = b.uid;
SELECT a.uid, b.c FROM clicks AS a JOIN (SELECT uid, CHAR_LENGTH(UUID()) AS n, COUNT(*) AS c FROM clicks GROUP BY uid) AS b ON a.uid = b.uid;
SELECT a.uid, b.c FROM clicks AS a JOIN (SELECT uid, CHAR_LENGTH(UUID()) AS n, COUNT(*) AS c FROM clicks GROUP BY uid) AS b ON CHAR_LENGTH(a.url) = b.n;
SELECT uid, c FROM (SELECT uid, COUNT(url) AS c FROM clicks GROUP BY uid) AS q WHERE c > RAND() - 1;
SELECT uid, c, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY c DESC) AS r FROM (SELECT uid, COUNT(url) AS c, CHAR_LENGTH(UUID()) AS n FROM clicks GROUP BY uid)) AS q WHERE r <= 2;
SELECT uid, c FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, uid) AS r FROM (SELECT uid, COUNT(url) AS c, CHAR_LENGTH(UUID()) AS n FROM clicks GROUP BY uid)) AS q WHERE r <= 2;
SELECT MAX(c) AS m, MAX(n) AS n FROM (SELECT uid, COUNT(url) AS c, CHAR_LENGTH(UUID()) AS n FROM clicks GROUP BY uid) AS q;
SELECT n, COUNT(*) AS c FROM (SELECT CHAR_LENGTH(UUID()) AS n FROM clicks) AS q GROUP BY n;
SELECT uid, n FROM (SELECT uid, CHAR_LENGTH(UUID()) AS n FROM clicks) AS q UNION ALL SELECT uid, CAST(COUNT(*) AS INT) FROM clicks GROUP BY uid;
SELECT uid, n FROM (SELECT uid, 1 AS n FROM clicks) AS q UNION ALL SELECT uid, CAST(COUNT(*) AS INT) + CHAR_LENGTH(UUID()) FROM clicks GROUP BY uid;
SELECT DISTINCT uid, CHAR_LENGTH(UUID()) AS n FROM clicks;
SELECT uid FROM clicks WHERE uid IN (SELECT uid FROM clicks GROUP BY uid HAVING COUNT(*) + CHAR_LENGTH(UUID()) > 37);
""", order="folded", config={"table.optimizer.non-deterministic-update.strategy": "TRY_RESOLVE"})  # fmt: skip
