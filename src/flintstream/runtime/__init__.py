"""The code that runs inside a task: operators, timers, watermarks, exchanges. Independent of Spark and the driver."""
