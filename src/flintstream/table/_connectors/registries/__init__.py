"""Formats whose messages begin with the number of their schema in a registry: those of Confluent and of AWS Glue."""
