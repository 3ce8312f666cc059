"""Options of tables from the arguments of readers and writers."""
