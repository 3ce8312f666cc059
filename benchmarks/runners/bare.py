"""The bound: two Python processes with a dict each, and nothing between them.

That they need no exchange is a property of these keys: with an even number of them, even numbers have even keys.
"""

# ruff: noqa: ANN202, D103 - as a user of that engine would write it

from __future__ import annotations

from multiprocessing import Process
from pathlib import Path

from options import SPREAD, read


def count(process: int, records: int, keys: int, every: int, output: str) -> None:
    state: dict[int, int] = {}

    def process_element(value: tuple[int, int], key: int):
        number = (state.get(key) or 0) + 1
        state[key] = number
        if number % every == 0:
            yield value[0], number

    def to_pair(n: int) -> tuple[int, int]:
        return n * SPREAD % keys, n

    with Path(output, f"part-{process}").open("w") as file:
        for n in range(process, records, 2):
            value = to_pair(n)
            file.writelines(f"({key},{number})\n" for key, number in process_element(value, value[0]))


def main() -> None:
    options = read()
    if options.keys % 2:
        raise SystemExit("the bound needs an even number of keys")
    arguments = (options.records, options.keys, options.every, options.output)
    processes = [Process(target=count, args=(number, *arguments)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
