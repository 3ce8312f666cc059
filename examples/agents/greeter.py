"""An agent. Flink Agents finds its actions by the names of module and class, so it has a module of its own."""

from __future__ import annotations

from flink_agents.api.agents.agent import Agent
from flink_agents.api.decorators import action
from flink_agents.api.events.event import Event, InputEvent, OutputEvent  # noqa: TC002 - Flink Agents reads the annotations
from flink_agents.api.runner_context import RunnerContext  # noqa: TC002 - as above


class Greeter(Agent):
    """Counts the orders of a customer in its short-term memory, which each key has for itself."""

    @action(InputEvent.EVENT_TYPE)
    @staticmethod
    def greet(event: Event, ctx: RunnerContext) -> None:
        """Answer an order."""
        customer, fruit = InputEvent.from_event(event).input
        memory = ctx.short_term_memory
        orders = (memory.get("orders") or 0) + 1
        memory.set("orders", orders)
        ctx.send_event(OutputEvent(output=f"{customer}: {fruit} is order {orders}"))
