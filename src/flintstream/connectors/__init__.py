"""Sources and sinks: their contracts, and those that need no other system."""
