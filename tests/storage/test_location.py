"""The meaning of paths and URIs."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.errors import PlanError
from flintstream.storage.location import Location, names_scheme

FORMS = [
    # given, text, as Flink shows it
    ("/data/in", "/data/in", "file:/data/in"),
    ("/data//in/./x/../", "/data/in", "file:/data/in"),
    ("//data/in", "/data/in", "file:/data/in"),
    ("/", "/", "file:/"),
    ("data/x", "/here/data/x", "file:/here/data/x"),
    ("../x", "/x", "file:/x"),
    (".", "/here", "file:/here"),
    ("~/x", "/here/~/x", "file:/here/~/x"),
    ("C:/x", "/here/C:/x", "file:/here/C:/x"),
    ("./a:b", "/here/a:b", "file:/here/a:b"),
    ("a/b:c", "/here/a/b:c", "file:/here/a/b:c"),
    ("/a b/ä%20#?&", "/a b/ä%20#?&", "file:/a b/ä%20#?&"),
    (" x ", "/here/ x ", "file:/here/ x "),
    ("file:/data/in", "/data/in", "file:/data/in"),
    ("file:///data/in/", "/data/in", "file:/data/in"),
    ("file:////data/in", "/data/in", "file:/data/in"),
    ("file:///", "/", "file:/"),
    ("FILE:///data/in", "/data/in", "file:/data/in"),
    ("file://localhost/data/in", "/data/in", "file:/data/in"),
    ("file://LocalHost/data/in", "/data/in", "file:/data/in"),
    ("file:///a b/%41", "/a b/%41", "file:/a b/%41"),
    ("  file:///data/in  ", "/data/in", "file:/data/in"),
    ("s3://Bucket/Key", "s3://Bucket/Key", "s3://Bucket/Key"),
    ("S3A://Bucket/Key/", "s3a://Bucket/Key", "s3a://Bucket/Key"),
    ("s3n://b/k", "s3n://b/k", "s3n://b/k"),
    ("s3://b", "s3://b", "s3://b"),
    ("s3://b/", "s3://b", "s3://b"),
    ("s3://b//k/./x/..", "s3://b/k", "s3://b/k"),
    ("s3://b/a b/%41?x#y", "s3://b/a b/%41?x#y", "s3://b/a b/%41?x#y"),
    ("gs://b/k", "gs://b/k", "gs://b/k"),
    ("abfss://c@a.dfs.core.windows.net/k", "abfss://c@a.dfs.core.windows.net/k", "abfss://c@a.dfs.core.windows.net/k"),
    ("hdfs://name:8020/k", "hdfs://name:8020/k", "hdfs://name:8020/k"),
    ("hdfs:///k", "hdfs:///k", "hdfs:/k"),
    ("hdfs:/k", "hdfs:///k", "hdfs:/k"),
    ("memory://a/b", "memory://a/b", "memory://a/b"),
    ("https://host/a//b?u=c/../d", "https://host/a//b?u=c/../d", "https://host/a//b?u=c/../d"),
    ("simplecache::s3://b/k/", "simplecache::s3://b/k", "simplecache::s3://b/k"),
    ("zip://a.csv::file:///x.zip", "zip://a.csv::file:///x.zip", "zip://a.csv::file:///x.zip"),
]


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr("os.getcwd", lambda: "/here")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("given_text", "text", "shown"), FORMS, ids=[form for form, *_ in FORMS])
def test_a_spelling_means_one_place(given_text, text, shown):
    location = Location.parse(given_text)
    assert (str(location), location.flink_text) == (text, shown)
    assert location.is_local == text.startswith("/")
    assert Location.parse(str(location)) == location


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file://host/x", "'an.option' must not name a host, got 'file://host/x'; write 'file:///host/x' for"),
        ("file://data/a/b", "write 'file:///data/a/b'"),
        ("file://host", "must be an absolute path, got 'file://host'"),
        ("file://", "must be an absolute path, got 'file://'"),
        ("file:x", "'an.option' must be an absolute path, got 'file:x'; write 'file:///x'"),
        ("hdfs:x/y", "must be an absolute path, got 'hdfs:x/y'; write 'hdfs:///x/y'"),
        ("s3:", "must be an absolute path, got 's3:'"),
        ("", "'an.option' is empty"),
        ("  ", "'an.option' is empty"),
        ("/a\0b", "must not contain a null character"),
        ("/a\ud800", "is not valid text"),
        ("s3://bucket/\ud800", "is not valid text"),
    ],
)
def test_what_means_no_place_is_refused_by_the_name_of_its_option(text, message):
    with pytest.raises(PlanError, match=re.escape(message)):
        Location.parse(text, "'an.option'")


@pytest.mark.parametrize("value", [None, 3, b"/data", ["/data"]])
def test_what_is_no_text_is_a_type_error(value):
    with pytest.raises(TypeError, match="must be a str or a path object"):
        Location.parse(value)


def test_a_path_object_is_read_like_its_text(tmp_path):
    assert Location.parse(tmp_path / "x") == Location.parse(f"file://{tmp_path}/x")
    assert Location.parse(Path("x")) == Location.parse(Path("x").absolute())
    assert str(Location.parse(PurePosixPath("/a/b"))) == "/a/b"


def test_links_and_homes_stay_as_they_are(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("elsewhere")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(Location.parse("link/~")) == f"{tmp_path}/link/~"


def test_only_a_place_of_this_machine_has_a_local_path():
    assert Location.parse("file:/a").local_path() == "/a"
    with pytest.raises(PlanError, match=r"'an\.option' must be on this machine or mounted there, got 's3://b/k'"):
        Location.parse("S3://b/k").local_path("'an.option'")


names = st.text(st.characters(codec="utf-8", exclude_characters="\0/:"), min_size=1)
paths = st.lists(names, min_size=1).map(lambda parts: "/" + "/".join(parts))


@given(paths)
def test_a_local_path_comes_back_from_its_text(path):
    location = Location.parse(path)
    assert Location.parse(str(location)) == location
    assert location.path == posixpath.normpath(path)


@given(paths)
def test_a_local_path_and_its_uri_mean_the_same(path):
    location = Location.parse(path)
    if not path[-1].isspace():
        assert Location.parse(location.uri) == Location.parse(location.flink_text) == location


@given(st.sampled_from(["s3", "S3A", "gs", "abfs", "hdfs", "memory", "https", "xy+z"]), st.text(), paths)
def test_a_uri_comes_back_from_its_text(scheme, authority, path):
    authority = authority.replace("/", "").replace("\0", "")
    location = Location.parse(f"{scheme}://{authority}{path}")
    assert Location.parse(str(location)) == Location.parse(location.uri) == location
    assert location.scheme == scheme.lower()


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        location = Location.parse(text)
    except PlanError:
        return
    assert Location.parse(str(location)) == location
    assert location.is_local or names_scheme(text)
