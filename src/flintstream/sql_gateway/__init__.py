"""Sessions that run SQL for clients: their statements, the results in pages, and their form in JSON."""
