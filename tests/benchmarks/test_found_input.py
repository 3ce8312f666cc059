from __future__ import annotations

import socket
import subprocess
import sys
import threading

import pytest
from benchmarks.found_input import LINES, PLAIN, RUNNER, Sockets, command, lines, read


def received(client, number):
    with client.makefile() as text:
        return [text.readline().split(",")[0] for _ in range(number)]


def test_a_server_sends_its_first_lines_when_a_client_connects_and_the_others_at_once(tmp_path):
    place = Sockets(tmp_path)
    place.write(0)
    host, _, port = place.where.partition(":")
    with socket.create_connection((host, int(port))) as client:
        assert received(client, LINES) == [str(number) for number in range(LINES)]
        place.write(1)
        assert received(client, LINES) == [str(number) for number in range(LINES, 2 * LINES)]
    place.close()


def test_lines_have_their_number_the_time_and_a_key():
    number, written, key = lines(2)[-1].split(",")
    assert int(number) == 3 * LINES - 1
    assert float(written) > 0
    assert int(key) == int(number) % 97


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("asyncio", ["python", str(PLAIN), "there"]),
        ("pyflink-thread", ["python", str(RUNNER), "sockets", "there", "thread", ""]),
    ],
)
def test_an_engine_gets_the_place_of_the_input(engine, expected):
    assert command(engine, "python", "sockets", "there", "") == expected


def test_flintstream_runs_the_program_with_its_command():
    found = command("flintstream", "python", "files", "there", "")
    assert found[:4] == ["python", "-m", "flintstream.cli", "run"]
    assert found[-4:] == [str(RUNNER), "files", "there", ""]


def test_the_plain_reader_prints_each_line_it_has_counted(tmp_path):
    place = Sockets(tmp_path)
    place.write(0)
    program = [sys.executable, str(PLAIN), place.where]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own program
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        _, _, missing = read(process, place, times=3)
        place.close()
        assert process.wait(60) == 0
        watchdog.cancel()
    assert missing == 0
