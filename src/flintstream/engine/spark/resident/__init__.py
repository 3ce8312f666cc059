"""Tasks that stay for many epochs."""
