"""Engine for Spark Connect, whose clients have DataFrames only: neither RDDs nor a JVM."""
