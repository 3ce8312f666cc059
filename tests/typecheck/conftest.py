"""The programs are for type checkers; pytest looks at what is around them."""

collect_ignore = ["programs"]
