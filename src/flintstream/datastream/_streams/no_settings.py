"""Settings that raise an error on streams without an operator, such as keyed streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.datastream.slot_sharing_group import SlotSharingGroup


class NoSettings:
    """Rejects the settings of operators, like PyFlink, because the stream has no operator to configure."""

    def _refuse(self, operation: str) -> NoReturn:
        raise Exception(  # noqa: TRY002 - the type PyFlink raises
            f"{operation} on {type(self).__name__} is not supported. "
            "Apply it to the stream before this one, or to the result of an operation.",
        )

    def set_parallelism(self, parallelism: int) -> Self:
        """Raise an error; see the class."""
        self._refuse("set_parallelism()")

    def name(self, name: str) -> Self:
        """Raise an error; see the class."""
        self._refuse("name()")

    def get_name(self) -> str:
        """Raise an error; see the class."""
        self._refuse("get_name()")

    def uid(self, uid: str) -> Self:
        """Raise an error; see the class."""
        self._refuse("uid()")

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Raise an error; see the class."""
        self._refuse("set_uid_hash()")

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Raise an error; see the class."""
        self._refuse("set_max_parallelism()")

    def force_non_parallel(self) -> Self:
        """Raise an error; see the class."""
        self._refuse("force_non_parallel()")

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Raise an error; see the class."""
        self._refuse("set_buffer_timeout()")

    def start_new_chain(self) -> Self:
        """Raise an error; see the class."""
        self._refuse("start_new_chain()")

    def disable_chaining(self) -> Self:
        """Raise an error; see the class."""
        self._refuse("disable_chaining()")

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Raise an error; see the class."""
        self._refuse("slot_sharing_group()")
