"""The syntax of MATCH_RECOGNIZE."""
