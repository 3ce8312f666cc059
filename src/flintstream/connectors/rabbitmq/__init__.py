"""Source and sink for RabbitMQ on top of pika, from the extra ``rabbitmq``.

The public API is in :mod:`flintstream.datastream.connectors.rabbitmq`.
"""
