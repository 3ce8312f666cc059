"""Translation of a program to a job plan, with pure functions over plain data and without Spark."""
