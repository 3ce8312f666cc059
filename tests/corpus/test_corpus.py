"""The list of public programs is valid, and the runner judges as described on the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpus import listing, page
from tests.corpus.listing import Program
from tests.corpus.recipes import Filler, contents, messages, text
from tests.corpus.running import OneProcess, Servers, digest, flintstream, last_error, run

SOURCE = Path(__file__).parents[2] / "src"

JOB = """
import sys
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(open("words.txt").read().split()).map(lambda word: word * int(sys.argv[1])).print()
env.execute()
"""


@pytest.fixture(scope="module")
def programs():
    return listing.read()


def test_the_list_has_many_programs_of_many_authors_each_with_its_commit(programs):
    datastream = [program for program in programs if program.counted != "table"]
    assert len(datastream) >= 100
    assert len({program.author for program in datastream}) >= 40
    assert len({program.name for program in programs}) == len(programs)
    assert all(len(program.commit) == 40 for program in programs)


def test_every_program_that_is_counted_apart_or_does_not_run_has_a_reason(programs):
    assert {program.counted for program in programs} <= {"yes", "table", "older", *page.APART}
    silent = [program.name for program in programs if program.counted not in {"yes", "table"} and not program.reason]
    counted = [program for program in programs if program.counted not in page.APART]
    failed = [
        program.name
        for program in counted
        if program.after not in {"", "runs"} and not (program.reason or program.error)
    ]
    assert (silent, failed) == ([], [])


def test_the_page_says_what_the_list_says(programs, tmp_path):
    page.write(programs, tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text("utf-8") == page.PAGE.read_text("utf-8")


def test_recipes_can_be_made(programs):
    for program in programs:
        filler = Filler()
        assert all(contents(recipe, filler) for recipe in program.files.values()), program.name
        assert all(messages(recipe, filler) for recipe in program.topics.values()), program.name


def test_places_in_recipes_are_filled_in():
    made = messages(
        {"count": 2, "key": "k${i}", "value": {"n": "${i}", "who": "u${pick a|a}", "of": "${pick 7|7}"}}, Filler()
    )
    assert made == [(b"k1", b'{"n": 1, "who": "ua", "of": 7}'), (b"k2", b'{"n": 2, "who": "ua", "of": 7}')]
    assert text({"head": "a,b", "count": 2, "line": "${i},x"}, Filler()) == "a,b\n2,x\n3,x\n"
    with pytest.raises(ValueError, match="means nothing"):
        text("${nothing}", Filler())


def test_outputs_are_compared_whatever_their_order_subtask_and_log():
    assert digest("2> b\n1> a\n2026-11-22 10:00:00 a line of a log\n") == digest("a\nb\n") != digest("a\n")


def test_the_last_error_is_the_reason():
    assert last_error("Traceback (most recent call last):\nKeyError: 'a'\n") == "KeyError: 'a'"
    assert last_error("a warning\n") == ""


def verdict(tmp_path, job=JOB, **more):
    checkout = tmp_path / "somebody+something" / "jobs"
    checkout.mkdir(parents=True)
    (checkout / "job.py").write_text(job, "utf-8")
    entry = {"files": {"words.txt": "to be"}, "args": ["2"], **more}
    program = Program("somebody/something", "0" * 40, "jobs/job.py", **entry)
    outcome = run(program, tmp_path, flintstream(SOURCE, "inline"), Servers())
    return outcome.verdict, outcome.reason, outcome.output


def test_a_program_that_ends_and_prints_runs(tmp_path):
    kind, reason, printed = verdict(tmp_path)
    assert (kind, reason, digest(printed)) == ("runs", "", digest("toto\nbebe\n"))


def test_a_program_that_fails_fails_with_its_error(tmp_path):
    kind, reason, _ = verdict(tmp_path, args=["x"])
    assert (kind, "ValueError" in reason) == ("fails", True)


def test_a_program_without_the_expected_output_fails(tmp_path):
    assert verdict(tmp_path, shows="not there")[:2] == ("fails", "nothing printed matches not there")


def test_a_program_stays_on_this_machine(tmp_path):
    job = "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)\n"
    kind, reason, _ = verdict(tmp_path, job)
    assert (kind, "keeps its programs on this machine" in reason) == ("fails", True)


@pytest.mark.parametrize("client", ["confluent_kafka.Producer", "confluent_kafka.admin.AdminClient"])
def test_clients_of_kafka_connect_to_the_broker_of_the_runner(tmp_path, client):
    module, _, name = client.rpartition(".")
    job = f"""
from {module} import {name}
client = {name}({{"bootstrap.servers": "192.0.2.1:9092", "log_level": 0, "error_cb": lambda error: print(error.str())}})
for _ in range(50):
    client.poll(0.1)
"""
    printed = verdict(tmp_path, job, env={"CORPUS_BROKER": "127.0.0.1:1"}, shows="127.0.0.1:1/bootstrap")
    assert printed[0] == "runs", printed


def test_programs_that_share_a_process_are_judged_as_alone(tmp_path):
    checkout = tmp_path / "somebody+something"
    checkout.mkdir(parents=True)
    jobs = {"job.py": JOB, "endless.py": "print('begun')\nwhile True: pass\n", "broken.py": "import job\nnothing\n"}
    for name, job in jobs.items():
        (checkout / name).write_text(job, "utf-8")
    process = OneProcess(flintstream(SOURCE, "inline"))
    way = flintstream(SOURCE, "inline")

    def outcome(file, **more):
        entry = {"files": {"words.txt": "to be"}, "args": ["2"], **more}
        done = run(Program("somebody/something", "0" * 40, file, **entry), tmp_path, way, Servers(), process)
        return done.verdict, done.reason, digest(done.output)

    try:
        assert outcome("job.py") == ("runs", "", digest("toto\nbebe\n"))
        assert outcome("endless.py", seconds=1) == ("fails", "did not end within 1 s", digest("begun\n"))
        assert outcome("job.py", args=["3"]) == ("runs", "", digest("tototo\nbebebe\n"))
        assert outcome("broken.py")[:2] == ("fails", "NameError: name 'nothing' is not defined")
    finally:
        process.close()
