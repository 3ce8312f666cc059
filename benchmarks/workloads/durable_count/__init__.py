"""The keyed count with all features: changelog checkpoints every 10 s, a timer per key that writes its last count."""
