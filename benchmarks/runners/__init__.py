"""The keyed count of ``benchmarks/keyed_count.py`` on one engine each.

Every module is a program of its own, so that it can run in a virtual environment where nothing else of this project
is:

    python MODULE.py --records N --keys K --every M --output DIRECTORY

It maps the numbers 0 to N-1 to keys, counts per key in keyed state, and writes a line ``(key,count)`` whenever a
count is a multiple of M into files below DIRECTORY.
"""
