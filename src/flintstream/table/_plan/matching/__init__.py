"""Plans of MATCH_RECOGNIZE."""
