"""The connectors of ``CREATE TABLE ... WITH ('connector' = ...)``."""
