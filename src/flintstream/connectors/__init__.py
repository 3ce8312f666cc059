"""The source and sink interfaces, and the sources and sinks that need no other system."""
