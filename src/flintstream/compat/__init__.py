"""Running programs that were written for PyFlink as they are."""
