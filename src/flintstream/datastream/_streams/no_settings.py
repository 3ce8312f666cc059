"""Settings that are not supported on streams that are not the result of an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing import Self

    from flintstream.datastream.slot_sharing_group import SlotSharingGroup


class NoSettings:
    """Rejects the settings of operators, like PyFlink, because the stream has no operator to configure."""

    def _refuse(self, operation: str) -> NoReturn:
        raise Exception(  # noqa: TRY002 - the type PyFlink raises
            f"{operation} on {type(self).__name__} is not supported. "
            "Apply it to the stream before this one, or to the result of an operation.",
        )

    def set_parallelism(self, parallelism: int) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("set_parallelism()")

    def name(self, name: str) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("name()")

    def get_name(self) -> str:
        """Refused."""
        self._refuse("get_name()")

    def uid(self, uid: str) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("uid()")

    def set_uid_hash(self, uid_hash: str) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("set_uid_hash()")

    def set_max_parallelism(self, max_parallelism: int) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("set_max_parallelism()")

    def force_non_parallel(self) -> Self:
        """Refused."""
        self._refuse("force_non_parallel()")

    def set_buffer_timeout(self, timeout_millis: int) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("set_buffer_timeout()")

    def start_new_chain(self) -> Self:
        """Refused."""
        self._refuse("start_new_chain()")

    def disable_chaining(self) -> Self:
        """Refused."""
        self._refuse("disable_chaining()")

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:  # noqa: ARG002
        """Refused."""
        self._refuse("slot_sharing_group()")
