"""Reads from and writes to RabbitMQ with pika, from the extra ``rabbitmq``.

What users see is in :mod:`flintstream.datastream.connectors.rabbitmq`.
"""
