"""The Spark engine: one Spark job per epoch, one stage per superstep."""
