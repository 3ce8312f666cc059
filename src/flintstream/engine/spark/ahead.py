"""All that a job needs: the command line imports this module while the JVM starts."""

import pyspark.java_gateway  # noqa: F401

import flintstream.engine.spark.engine  # noqa: F401
