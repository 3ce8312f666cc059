"""MATCH_RECOGNIZE: from its syntax to a plan."""
