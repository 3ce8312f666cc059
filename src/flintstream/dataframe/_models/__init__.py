"""Models behind endpoints: their settings, and the calls of tasks."""
