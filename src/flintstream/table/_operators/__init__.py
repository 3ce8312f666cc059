"""What runs in tasks for tables: keyed functions over tuples."""
