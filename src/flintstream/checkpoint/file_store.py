"""A first, plain version; the checksummed format takes its place."""
from __future__ import annotations
import os, shutil, contextlib
from typing import Any
class LocalFileStore:
    def __init__(self, root: str) -> None:
        self.root = root
    def p(self, path): return os.path.join(self.root, path) if path else self.root
    def write(self, path, data):
        os.makedirs(os.path.dirname(self.p(path)), exist_ok=True)
        with open(self.p(path)+".part","wb") as f: f.write(data)
        os.replace(self.p(path)+".part", self.p(path))
    def read(self, path):
        with open(self.p(path),"rb") as f: return f.read()
    @contextlib.contextmanager
    def create(self, path):
        os.makedirs(os.path.dirname(self.p(path)), exist_ok=True)
        with open(self.p(path)+".part","wb") as f: yield f
        os.replace(self.p(path)+".part", self.p(path))
    def open(self, path): return open(self.p(path),"rb")
    def put(self, local, path):
        os.makedirs(os.path.dirname(self.p(path)), exist_ok=True)
        shutil.copyfile(local, self.p(path))
    def get(self, path, local): shutil.copyfile(self.p(path), local)
    def delete(self, path):
        with contextlib.suppress(FileNotFoundError): os.unlink(self.p(path))
    def delete_tree(self, path): shutil.rmtree(self.p(path), ignore_errors=True)
    def list(self, path):
        return [os.path.relpath(os.path.join(d,f), self.p(path)) for d,_,fs in os.walk(self.p(path)) for f in fs]
    def uri(self, path): return self.p(path)
    def child(self, path): return LocalFileStore(self.p(path))
    def exists(self, path): return os.path.exists(self.p(path))
FileStore = Any
def file_store(uri):
    import re
    return LocalFileStore(re.sub("^file:/*", "/", uri))
