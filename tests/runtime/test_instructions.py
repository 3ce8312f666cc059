"""Workers can read every instruction of the driver, whatever it contains."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass

from flintstream.connectors.source import SourceSplit
from flintstream.runtime.protocol import Instruction
from flintstream.runtime.task.stage import instruction_item


def test_a_split_whose_class_stands_in_the_script_reaches_a_worker(monkeypatch):
    @dataclass
    class Part(SourceSplit):
        position: int

    Part.__module__, Part.__qualname__ = "__main__", "Part"
    script = sys.modules["__main__"]
    monkeypatch.setattr(script, "Part", Part, raising=False)
    instruction = Instruction(epoch=0, chain=0, subtask=0, attempt=0, version=None, new_splits={1: [Part("a", 7)]})
    item = instruction_item(0, instruction)
    monkeypatch.delattr(script, "Part")  # the script of a worker is another one
    (split,) = pickle.loads(item.payload).new_splits[1]
    assert (split.split_id, split.position) == ("a", 7)
