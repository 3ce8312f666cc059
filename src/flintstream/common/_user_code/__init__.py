"""The program's own code: its objects are pickled, its functions read, its tracebacks shortened, its forks ended."""
