"""Photograph the built documentation, and find pages that are wider than the screen.

``make docs``, then ``python -m tests.documentation.screenshots FOLDER [PAGE ...]``. Pictures of some pages are in
FOLDER afterwards, at the widths of a desktop and of a telephone, light and dark. All pages are measured.
"""

from __future__ import annotations

import argparse
import base64
from pathlib import Path

from tests.rest.browser import browser

BUILT = Path(__file__).parents[2] / "docs" / "_build"
PAGES = (
    "index",
    "tutorials/first-job",
    "how-to/windows",
    "reference/configuration",
    "reference/table",
    "explanation/time-and-state",
    "explanation/fault-tolerance",
)
WIDTHS = (1280, 400)
MEASURED = (*WIDTHS, 1000, 1220, 1400, 1500, 1920)
TOO_WIDE = """
const wide = [...document.querySelectorAll('article *')].filter((each) => {
  const box = each.getBoundingClientRect()
  if (box.right <= innerWidth + 1 || box.width === 0) return false
  for (let above = each.parentElement; above; above = above.parentElement)
    if (getComputedStyle(above).overflowX !== 'visible') return false  // it scrolls
  return true
})
return document.documentElement.scrollWidth > innerWidth || wide.length
  ? wide.slice(0, 3).map((each) => each.tagName + ' ' + each.innerText.slice(0, 60)) : null
"""
"""What sticks out of the screen and cannot be scrolled into view."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--built", type=Path, default=BUILT, help="the folder of the HTML")
    given = parser.parse_args()
    missing = [page for page in given.pages if not (given.built / f"{page}.html").exists()]
    if missing:
        parser.error(f"no such pages, without .html: {', '.join(missing)}")
    given.folder.mkdir(parents=True, exist_ok=True)
    found = 0
    with browser() as window:
        for page in sorted(given.built.rglob("*.html")):
            name = page.relative_to(given.built).with_suffix("").as_posix()
            if name.startswith("_"):
                continue
            window.look(1280)
            window.open(page.resolve().as_uri())
            for width in MEASURED:
                window.look(width)
                wide = window.run(TOO_WIDE)
                if wide is not None:
                    found += 1
                    print(f"{name} is wider than {width} pixels: {'; '.join(wide)}")
                if name in given.pages and width in WIDTHS:
                    photograph(window, given.folder / f"{name.replace('/', '-')}-{width}.png")
            if name in given.pages:
                window.look(WIDTHS[0], dark=True)
                photograph(window, given.folder / f"{name.replace('/', '-')}-dark.png")
    print(f"{found} pages are too wide")
    raise SystemExit(found > 0)


def photograph(window, path: Path) -> None:
    """Write the whole page, at most 5,000 pixels of it."""
    width, height = window.run("return [innerWidth, Math.min(document.documentElement.scrollHeight, 5000)]")
    area = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    data = window.tool("Page.captureScreenshot", captureBeyondViewport=True, clip=area)["data"]
    path.write_bytes(base64.b64decode(data))


if __name__ == "__main__":
    main()
