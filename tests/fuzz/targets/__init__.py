"""All targets, by name."""

from __future__ import annotations

from tests.fuzz.targets import control, files, functions, messages, rest, savepoints, texts

TARGETS = {
    target.name: target
    for module in (savepoints, control, rest, messages, files, texts, functions)
    for target in module.TARGETS
}
