from __future__ import annotations

import resource

import pytest

from flintstream.coordinator import descriptors


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1024, 4096), (4096, 4096)),
        ((1024, 1 << 30), (1 << 16, 1 << 30)),
        ((1024, resource.RLIM_INFINITY), (1 << 16, resource.RLIM_INFINITY)),
        ((1 << 20, 1 << 30), (1 << 20, 1 << 30)),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
        ((1024, 1024), (1024, 1024)),
    ],
)
def test_the_soft_limit_rises_towards_the_hard_one(monkeypatch, before, after):
    limits = [before]
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda which, wanted: limits.append(wanted))
    descriptors.raise_limit()
    assert limits[-1] == after


def test_a_system_that_refuses_the_limit_is_left_alone(monkeypatch):
    def refuse(which, wanted):
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    descriptors.raise_limit()
