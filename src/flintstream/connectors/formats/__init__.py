"""Formats of messages and files: conversion between values of a type and bytes.

The public API is in :mod:`flintstream.datastream.formats`.
"""
