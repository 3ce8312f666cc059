"""Source and sink for Apache Kafka on top of librdkafka, from the extra ``kafka``.

The public API is in :mod:`flintstream.datastream.connectors.kafka`.
"""
