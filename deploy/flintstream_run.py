"""The command ``flintstream`` as a file for ``spark-submit``: ``spark-submit ... flintstream_run.py run job.py``."""

from flintstream.cli import main

main()
