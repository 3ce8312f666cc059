"""Keep pytest from collecting the programs, which are for type checkers."""

collect_ignore = ["programs"]
