"""Support for running PyFlink programs unmodified."""
