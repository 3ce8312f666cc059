"""Import of all modules with classes that state contains as records. Reading a savepoint needs no program then."""

from __future__ import annotations

from flintstream.connectors import cache, collection, function_source, generated_rows, hybrid, number_sequence
from flintstream.connectors.aws import shards as kinesis_shards
from flintstream.connectors.cassandra import log as cassandra_log
from flintstream.connectors.files import arrow, input_formats, sink
from flintstream.connectors.files import reader as file_reader
from flintstream.connectors.jdbc import scan as jdbc_scan
from flintstream.connectors.kafka import dynamic, staging
from flintstream.connectors.kafka import reader as kafka_reader
from flintstream.connectors.lakes import splits as lakes_splits
from flintstream.connectors.lakes import writer as lakes_writer
from flintstream.connectors.mongodb import source as mongodb_source
from flintstream.connectors.pulsar import source as pulsar_source
from flintstream.connectors.rabbitmq import source as rabbitmq_source

MODULES = (
    arrow,
    cache,
    cassandra_log,
    collection,
    dynamic,
    file_reader,
    function_source,
    generated_rows,
    hybrid,
    input_formats,
    jdbc_scan,
    kafka_reader,
    kinesis_shards,
    lakes_splits,
    lakes_writer,
    mongodb_source,
    number_sequence,
    pulsar_source,
    rabbitmq_source,
    sink,
    staging,
)
