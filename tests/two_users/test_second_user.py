from __future__ import annotations

import pytest
from tests.second_user import SECOND_USER, as_second_user, reason_to_skip, two_users


def test_a_user_other_than_root_is_told_why_these_tests_are_skipped():
    assert "only root" in str(reason_to_skip(1000, None))
    assert "make two-users" in str(reason_to_skip(1000, "/usr/bin/python3"))
    assert "no Python interpreter" in str(reason_to_skip(0, None))
    assert reason_to_skip(0, "/usr/bin/python3") is None


@two_users
def test_the_second_user_is_another_user_without_rights_on_private_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("mine")
    secret.chmod(0o600)

    def read(path):
        import os
        from pathlib import Path

        try:
            return os.geteuid(), Path(path).read_text()
        except PermissionError:
            return os.geteuid(), "refused"

    assert as_second_user(read, str(secret)) == [SECOND_USER, "refused"]


@two_users
def test_an_error_of_the_second_user_fails_the_test():
    def fail():
        raise ValueError("no luck")

    with pytest.raises(AssertionError, match="no luck"):
        as_second_user(fail)
