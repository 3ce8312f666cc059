"""The program of the page about Kafka, run as a reader would, against a real broker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.connectors.kafka.broker import send
from tests.documentation.blocks import blocks
from tests.documentation.following import reader_in

import flintstream

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "how-to" / "kafka.md"


@pytest.mark.spark
def test_the_program_of_the_page_adds_up_orders(broker, tmp_path):
    code = next(block.text for block in blocks(PAGE))
    for topic in ("orders", "bills"):
        assert f'"{topic}"' in code
        code = code.replace(f'set_topics("{topic}")', f'set_topics("page-{topic}")')
        code = code.replace(f'set_topic("{topic}")', f'set_topic("page-{topic}")')
        broker.topic(f"page-{topic}")
    send(broker, "page-orders", ["ann,12.50", "bob,1", "ann,0.25"])
    program = tmp_path / "billing.py"
    program.write_text(code.replace("localhost:9092", broker.servers))
    command = [sys.executable, "-m", "flintstream.cli", "run", "-p", "1", "--until-caught-up"]
    command += [f"-Dexecution.checkpointing.dir={(tmp_path / 'checkpoints').as_uri()}", str(program)]
    done = subprocess.run(  # noqa: S603 - our own program
        command,
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    values = [value.decode() for _, _, value in broker.records("page-bills")]
    assert values == ["ann,12.50", "bob,1.00", "ann,12.75"]
    assert "\n".join(values) in PAGE.read_text("utf-8")


@pytest.mark.deep
@pytest.mark.kills
@pytest.mark.spark
def test_the_tutorial_can_be_followed(broker, tmp_path):
    with reader_in(tmp_path) as reader:
        reader.follow(DOCS / "tutorials" / "kafka.md", servers=broker.servers)
