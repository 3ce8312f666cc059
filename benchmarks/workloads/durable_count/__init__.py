"""The keyed count with everything on: changelog checkpoints every 10 s, and a timer per key to write its last count."""
