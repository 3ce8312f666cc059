"""Reads from and writes to Apache Kafka with librdkafka, from the extra ``kafka``.

What users see is in :mod:`flintstream.datastream.connectors.kafka`.
"""
