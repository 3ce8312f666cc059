"""Why workers and executors end, and what is said of it."""
