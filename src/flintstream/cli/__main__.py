"""``python -m flintstream.cli``."""

from __future__ import annotations

from flintstream.cli import main

main(prog_name="flintstream")
