"""Names are resolved against scopes here: queries, as SQL and the Table API describe them, become logical plans."""
