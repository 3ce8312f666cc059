"""All targets, by name."""

from __future__ import annotations

from tests.fuzz.targets import control, files, messages, rest, savepoints, texts

TARGETS = {
    target.name: target for module in (savepoints, control, rest, messages, files, texts) for target in module.TARGETS
}
