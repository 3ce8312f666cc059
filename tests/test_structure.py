"""The structure of the code only improves."""

from __future__ import annotations

import json

import pytest
from tests.structure import FIGURES, ROOMS, Code, code_of, lower, risen

WRITTEN = json.loads(FIGURES.read_text("utf-8"))


@pytest.fixture(scope="module")
def figures():
    return code_of().figures()


def test_no_figure_of_the_structure_rises(figures):
    assert risen(figures, WRITTEN) == [], "find a simpler form; `python -m tests.structure -v` names the places"


def test_a_figure_that_has_fallen_is_written_down(figures):
    assert figures == WRITTEN, "well done: `python -m tests.structure --lower` writes the new figures down"


@pytest.mark.parametrize("package", [package for package in ROOMS if package != "runtime"])
def test_every_module_of_an_ordered_package_has_its_place(package):
    assert code_of().rooms(package) == set(ROOMS[package])


def checkout(tmp_path, **files):
    for name, text in files.items():
        path = tmp_path.joinpath("src", "flintstream", *name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Code(tmp_path)


def test_an_import_from_a_higher_room_is_an_arrow_back_unless_it_is_for_types(tmp_path):
    code = checkout(
        tmp_path,
        coordinator__job="from flintstream.coordinator.client import X\nfrom flintstream.coordinator.pace import Y\n",
        coordinator__pace="if TYPE_CHECKING:\n    from flintstream.coordinator.client import X\n",
        coordinator__client="from flintstream.coordinator import job\n",
    )
    assert list(code.back_arrows("coordinator")) == [("job", "client"), ("job", "pace")]
    figures = code.figures()
    assert (figures["arrows back in coordinator"], figures["modules in circles at run time"]) == (2, 2)
    assert figures["modules in the largest circle, imports for types included"] == 3


def test_figures_are_written_down_only_if_none_has_risen(tmp_path, monkeypatch):
    written = tmp_path / "figures.json"
    monkeypatch.setattr("tests.structure.FIGURES", written)
    lower({"noqa": 3, "Any": 5})
    with pytest.raises(SystemExit, match="noqa: 4, was 3"):
        lower({"noqa": 4, "Any": 1})
    lower({"noqa": 3, "Any": 1})
    assert json.loads(written.read_text()) == {"noqa": 3, "Any": 1}
    with pytest.raises(SystemExit, match="new: 1, was 0"):
        lower({"noqa": 3, "Any": 1, "new": 1})
