"""Where files are kept: what a path or URI means, and the stores for this machine, for memory and for fsspec."""
