"""The sources and sinks of Kafka."""
