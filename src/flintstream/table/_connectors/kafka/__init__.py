"""The tables of Kafka's topics."""
