"""What executors get before they run tasks: the program, this package, its dependencies."""
