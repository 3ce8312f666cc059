"""Tasks of a superstep: their subtasks, and the operator chains that these run."""
