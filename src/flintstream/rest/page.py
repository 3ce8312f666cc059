"""The pages of the server: each is one document that loads nothing, put together from the files beside this module."""

from __future__ import annotations

import base64
import hashlib
import html
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "web"
SCRIPTS = ("parts.js", "charts.js", "graph.js", "tabs.js", "main.js")


def _read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def document() -> tuple[str, dict[str, str]]:
    """Return the page of all jobs, and the headers to send with it."""
    style, script = _read("style.css"), "\n".join(map(_read, SCRIPTS))
    text = _read("index.html").replace("/*style*/", style).replace("/*script*/", script)
    return text, _headers(style, script)


def reference(described: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return a page that lists the requests of an OpenAPI document, and the headers to send with it."""
    style = _read("style.css")
    rows = []
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            names = ", ".join(each["name"] for each in operation["parameters"] if each["in"] == "query")
            cells = (method.upper(), path, operation["summary"], names)
            rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    text = _read("reference.html").replace("/*style*/", style).replace("<!--rows-->", "\n".join(rows))
    return text, _headers(style, "")


def refusal() -> tuple[str, dict[str, str]]:
    """Return the page for a browser without the token, and the headers to send with it."""
    style = _read("style.css")
    return _read("refusal.html").replace("/*style*/", style), _headers(style, "")


def _headers(style: str, script: str) -> dict[str, str]:
    """Let the document run the parts that it was made of, and nothing else."""
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }


def _hash(part: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
