"""Formats of messages and files: how values of a type become bytes, and bytes values.

What users see is in :mod:`flintstream.datastream.formats`.
"""
