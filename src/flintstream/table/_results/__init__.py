"""Results of tables, as text and as data of pandas."""
