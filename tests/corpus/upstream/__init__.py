"""PyFlink's own tests, run from a checkout, unmodified: ``python -m tests.corpus.upstream CHECKOUT``."""
