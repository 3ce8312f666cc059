# mypy: disable-error-code="import-not-found,import-untyped"
"""Functions keep the state they had when their step was added."""

from pyflink.common import Types
from tests.conformance.registry import program


class Scaled:
    """A callable object, which its program changes later."""

    def __init__(self):
        self.factor = 1

    def __call__(self, value):
        return value * self.factor


@program(("STREAMING", "BATCH"), parallelism=(1, 2), ordering="multiset")
def functions_that_are_made_in_a_loop(env):
    numbers = env.from_collection(list(range(6)), Types.INT())
    scaled = Scaled()
    results = [numbers.map(scaled)]
    scaled.factor = 100
    for remainder in range(3):
        chosen = numbers.filter(lambda i: i % 3 == remainder)  # noqa: B023 - what is tested
        results.append(chosen.key_by(lambda i: i % (remainder + 1)).map(lambda i: (remainder, i)))  # noqa: B023
    return results
