"""What runs inside a task: operators, timers, watermarks, exchanges. Knows nothing of Spark or of the driver."""
