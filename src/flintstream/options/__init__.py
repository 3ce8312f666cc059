"""The options of a job: one table has each key with its type, default, documentation and older spellings.

``execution``, ``checkpointing``, ``state``, ``rocksdb``, ``restarts`` and ``ignored`` define the options by theme, and
``table`` collects them. Everything else reads them from there.
"""
