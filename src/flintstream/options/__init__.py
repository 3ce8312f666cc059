"""The options of a job: one table of keys with their types, defaults, documentation and older spellings.

``execution``, ``checkpointing``, ``state``, ``rocksdb``, ``restarts`` and ``ignored`` define the options by theme, and
``table`` collects them. All other code reads them from there.
"""
