"""What bags say about themselves, without their messages."""

from __future__ import annotations

from pathlib import Path

from .errors import BagError
from .metadata import FILE_NAME, BagMetadata, from_yaml, read_metadata, to_yaml
from .options import StorageOptions
from .sequential_reader import SequentialReader


class Info:
    """Reads what a bag holds."""

    def read_metadata(self, uri: str, storage_id: str = "") -> BagMetadata:
        """Return what a bag holds, with or without its `metadata.yaml`.

        Raises:
            BagError: nothing readable is there.
        """
        reader = SequentialReader()
        reader.open(StorageOptions(uri=uri, storage_id=storage_id))
        return reader.get_metadata()


class MetadataIo:
    """Reads and writes `metadata.yaml`."""

    def metadata_file_exists(self, uri: str) -> bool:
        """Return whether a bag has its `metadata.yaml`."""
        return (Path(uri) / FILE_NAME).is_file()

    def read_metadata(self, uri: str) -> BagMetadata:
        """Return what the `metadata.yaml` of a bag says.

        Raises:
            BagError: there is none, or it is none.
        """
        try:
            found = read_metadata(Path(uri))
        except ValueError as error:
            raise BagError(str(error)) from error
        if found is None:
            raise BagError(f"'{uri}' has no {FILE_NAME}")
        return found

    def write_metadata(self, uri: str, metadata: BagMetadata) -> None:
        """Write the `metadata.yaml` of a bag."""
        (Path(uri) / FILE_NAME).write_text(to_yaml(metadata), encoding="utf-8")

    def serialize_metadata(self, metadata: BagMetadata) -> str:
        """Return metadata as the text of a `metadata.yaml`."""
        return to_yaml(metadata)

    def deserialize_metadata(self, serialized_metadata: str) -> BagMetadata:
        """Return what the text of a `metadata.yaml` says.

        Raises:
            BagError: the text is none.
        """
        try:
            return from_yaml(serialized_metadata)
        except ValueError as error:
            raise BagError(f"no metadata of a bag: {error}") from error
