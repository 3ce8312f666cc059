"""Run an agent of Apache Flink Agents in a job.

    pip install flink-agents
    flintstream run examples/agents/job.py

Flink Agents runs agents on a cluster with an operator in Java. Its local runner is Python: here it runs in a process
function, so that an agent gets the records of each key in their order, and what it answers becomes a stream.
"""

from __future__ import annotations

from flink_agents.plan.configuration import AgentConfiguration
from flink_agents.runtime.local_runner import LocalRunner
from greeter import Greeter

from flintstream.common import Types
from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment

ORDERS = [("ann", "pear"), ("bob", "fig"), ("ann", "plum")]


class RunAgent(KeyedProcessFunction):
    """Gives each record to an agent, and emits what the agent answers."""

    def __init__(self, agent):
        self.agent = agent

    def open(self, runtime_context):
        self.runner = LocalRunner(self.agent(), AgentConfiguration())

    def process_element(self, value, ctx):
        self.runner.run(key=ctx.get_current_key(), value=value)
        answers = self.runner.get_outputs()
        for answer in answers:
            yield from answer.values()
        answers.clear()  # the runner keeps them


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    orders = env.from_collection(ORDERS, Types.TUPLE([Types.STRING(), Types.STRING()]))
    answers = orders.key_by(lambda order: order[0], Types.STRING()).process(RunAgent(Greeter), Types.STRING())
    answers.print()
    env.execute("agents")


if __name__ == "__main__":
    main()
