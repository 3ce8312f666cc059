"""One task of a superstep: its subtasks, and the chains of operators in them."""
