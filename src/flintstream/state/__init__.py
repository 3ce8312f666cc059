"""Keyed state: the stores behind ``RuntimeContext.get_state`` and its siblings."""
