"""Keyed state backends, behind ``RuntimeContext.get_state`` and its siblings."""
