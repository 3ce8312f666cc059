"""A slow checkpoint storage."""

from __future__ import annotations

import time

from flintstream.storage.local import LocalFileStore


class SlowStore(LocalFileStore):
    def write(self, path, data):
        time.sleep(0.1)
        super().write(path, data)

    def child(self, path):
        return SlowStore(f"{self.root}/{path}")
