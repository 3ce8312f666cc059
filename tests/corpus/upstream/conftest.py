"""Nothing here is a test of this project: ``python -m tests.corpus.upstream`` runs those of PyFlink."""

collect_ignore_glob = ["*"]
