import functools


@functools.lru_cache
def cached(x):
    return x * 3


class Thing:
    def __init__(self, v):
        self.v = v
