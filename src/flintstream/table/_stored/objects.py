"""Functions, procedures and models of a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from flintstream.common._java_exceptions import CatalogException
from flintstream.table._stored.models import CatalogModel

if TYPE_CHECKING:
    from flintstream.table._catalog.identifiers import ObjectPath
    from flintstream.table._catalog.models import DeclaredModel
    from flintstream.table._catalog.objects import CatalogFunction
    from flintstream.table._catalog.store import Store


class StoredObjects:
    """The methods of a catalog on functions, procedures and models."""

    _store: Store

    # -- functions and procedures --------------------------------------------------------------------------------------

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of functions."""
        return self._store.functions.names(database_name)

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function.

        Raises:
            FunctionNotExistException: It is not there.
        """
        return self._store.functions.get(function_path)

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function."""
        return self._store.functions.exists(function_path)

    def create_function(self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool) -> None:
        """Add a function.

        Raises:
            DatabaseNotExistException: There is no such database.
            FunctionAlreadyExistException: There is one of this name.
        """
        self._store.functions.create(function_path, function, lenient=ignore_if_exists)

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Replace a function.

        Raises:
            FunctionNotExistException: It is not there.
        """
        self._store.functions.alter(function_path, new_function, lenient=ignore_if_not_exists)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function.

        Raises:
            FunctionNotExistException: It is not there.
        """
        self._store.functions.drop(function_path, lenient=ignore_if_not_exists)

    def list_procedures(self, database_name: str) -> list[str]:
        """Return no names: catalogs in memory have no procedures."""
        self._store.check_database(database_name)
        return []

    def get_procedure(self, procedure_path: ObjectPath) -> NoReturn:
        """Raise an error: catalogs in memory have no procedures.

        Raises:
            CatalogException: Always.
        """
        raise CatalogException(f"there is no procedure {procedure_path}: catalogs in memory have none")

    # -- models --------------------------------------------------------------------------------------------------------

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of models."""
        return self._store.models.names(database_name)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model.

        Raises:
            ModelNotExistException: It is not there.
        """
        return CatalogModel.of(self._store.models.get(model_path))

    def model_exists(self, model_path: ObjectPath) -> bool:
        """Return whether there is a model."""
        return self._store.models.exists(model_path)

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model.

        Raises:
            ModelNotExistException: It is not there.
        """
        self._store.models.drop(model_path, lenient=ignore_if_not_exists)

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        """Give a model another name.

        Raises:
            ModelNotExistException: It is not there.
            ModelAlreadyExistException: The name is taken.
        """
        self._store.models.rename(model_path, new_model_name, lenient=ignore_if_not_exists)

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        """Add a model.

        Raises:
            DatabaseNotExistException: There is no such database.
            ModelAlreadyExistException: There is one of this name.
        """
        self._store.models.create(model_path, _entry(model), lenient=ignore_if_exists)

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool) -> None:
        """Replace a model.

        Raises:
            ModelNotExistException: It is not there.
        """
        self._store.models.alter(model_path, _entry(new_model), lenient=ignore_if_not_exists)


def _entry(given: object) -> DeclaredModel:
    if not isinstance(given, CatalogModel):
        raise TypeError(f"a catalog keeps objects of CatalogModel as models, but got {given!r}")
    return given.entry
