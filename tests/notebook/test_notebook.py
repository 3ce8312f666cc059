"""The example notebook, run by Jupyter's kernel; and IPython in a terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
RUN = """
import sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
# The client drops what a thread shows between two cells, so the cell that waits for the job also waits for its display.
wait = "import threading; [t.join(200) for t in threading.enumerate() if t.name == 'notebook']; "
(cell,) = [cell for cell in notebook.cells if "get_net_runtime" in cell.source]
cell.source = wait + cell.source
NotebookClient(notebook, timeout=500, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell of code."""
    done = tmp_path_factory.mktemp("notebook") / "done.ipynb"
    subprocess.run([sys.executable, "-c", RUN, NOTEBOOK, done], check=True)  # noqa: S603
    cells = json.loads(done.read_text(encoding="utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def html(outputs):
    (output,) = outputs
    return "".join(output["data"]["text/html"])


def test_streams_and_results_show_themselves(outputs):
    graph, records, all_of_them, rows = outputs[2:6]
    assert 'aria-label="steps: lines, words, counts"' in html(graph)
    assert "<div>10 records</div>" in html(records)
    assert "&#x27;question&#x27;, 1" in html(records)
    assert "'be': 2" in "".join(all_of_them[0]["data"]["text/plain"])
    assert "<th>op</th><th>word</th><th>times</th>" in html(rows)


def test_a_client_shows_its_job_until_it_has_ended(outputs):
    client, runtime = outputs[6:8]
    assert "FINISHED" in html(client)  # it ended while the next cell ran
    assert "<td>3,000</td><td>3,000</td>" in html(client)
    assert int("".join(runtime[0]["data"]["text/plain"])) > 0


def test_an_error_shows_the_lines_of_the_notebook(outputs):
    by_kind = {output["output_type"]: output for output in outputs[8]}
    text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(by_kind["error"]["traceback"]))
    assert "operator 'price', subtask" in text
    assert "return int(text)" in text
    assert 'env.execute("prices")' in text
    assert "flintstream/" not in text


def test_ipython_in_a_terminal_shows_short_tracebacks_and_on_demand_the_rest():
    program = """
from flintstream.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
env.from_collection([0]).map(lambda n: 1 // n).print()
client = env.execute_async("division")
client
env.execute()
env.from_collection([0]).map(lambda n: 1 // n).print()
env.execute()
print("all of it:")
%tb
"""
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "--simple-prompt"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=True)  # noqa: S603
    short, _, whole = done.stdout.partition("all of it:")
    assert "JobClient(" in short
    assert "ZeroDivisionError" in short
    assert "flintstream/coordinator" not in short
    assert "coordinator.py" in whole
