"""MATCH_RECOGNIZE: patterns, and what finds them in rows."""
