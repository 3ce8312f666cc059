"""The pages of the server: documents that contain their style, and the modules of the script of one of them."""

from __future__ import annotations

import base64
import hashlib
import html
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "web"
STYLES = ("style.css", "job.css", "graph.css", "narrow.css")
SCRIPT_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
"""No browser is to keep a module for another release of the server, or to run anything else as a script."""


def _read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def document() -> tuple[str, dict[str, str]]:
    """Return the page of all jobs, and the headers to send with it."""
    style = "\n".join(map(_read, STYLES))
    return _read("index.html").replace("/*style*/", style), _headers(style, "'self'")


def modules() -> dict[str, str]:
    """Return the modules that the page of all jobs loads from ``web/``, by name; send them with `SCRIPT_HEADERS`."""
    return {path.name: _read(path.name) for path in FILES.glob("*.js")}


def reference(described: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return a page that lists the requests of an OpenAPI document, and the headers to send with it."""
    style = _read("style.css")
    rows = []
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            names = ", ".join(item["name"] for item in operation["parameters"] if item["in"] == "query")
            cells = (method.upper(), path, operation["summary"], names)
            rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    text = _read("reference.html").replace("/*style*/", style).replace("<!--rows-->", "\n".join(rows))
    return text, _headers(style)


def refusal() -> tuple[str, dict[str, str]]:
    """Return the page for a browser without the token, and the headers to send with it."""
    style = _read("style.css")
    return _read("refusal.html").replace("/*style*/", style), _headers(style)


def _headers(style: str, scripts: str = "'none'") -> dict[str, str]:
    """Let the document apply its own style, run ``scripts``, and nothing else."""
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {scripts}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", **SCRIPT_HEADERS}


def _hash(part: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
