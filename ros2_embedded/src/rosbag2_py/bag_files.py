"""The files of a bag: which they are, in order, and how each is opened."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from .compression import SUFFIX as PACKED
from .compression import unpack_file
from .errors import BagError
from .mcap_reader import McapReader
from .metadata import BagMetadata
from .sqlite_storage import SUFFIX as SQLITE_SUFFIX
from .sqlite_storage import SqliteReader

FileReader = McapReader | SqliteReader


class BagFile:
    """A file of a bag; one that is compressed as a whole is unpacked to a temporary folder while it is open.

    Raises:
        BagError: the file is none of a bag.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_packed = path.suffix == PACKED
        if self.is_packed:
            path.open("rb").close()  # says why it cannot be read
        self._plain = None if self.is_packed else _reader(path)

    @contextlib.contextmanager
    def opened(self) -> Iterator[FileReader]:
        """Have the file open.

        Raises:
            BagError: a compressed file cannot be unpacked, or holds no file of a bag.
        """
        if self._plain is not None:
            yield self._plain
            return
        with TemporaryDirectory(prefix="rosbag2_") as folder:
            try:
                target = unpack_file(self.path, Path(folder))
            except OSError as error:
                why = f"'{self.path}' cannot be unpacked in '{folder}': {error.strerror or error}"
                raise BagError(f"{why}; TMPDIR chooses another folder") from error
            yield _reader(target)

    def survey(self) -> FileReader:
        """Return what the file holds; messages can be read while it is open only."""
        with self.opened() as reader:
            return reader


def bag_files(path: Path, said: BagMetadata | None) -> list[BagFile]:
    """Return the files of a bag, or a single file.

    Args:
        path: directory of the bag, or a file.
        said: by its `metadata.yaml`; None: there is none.

    Raises:
        BagError: nothing is there.
        OSError: a file cannot be read.
    """
    if path.is_file():
        return [BagFile(path)]
    if not path.is_dir():
        raise BagError(f"no bag at '{path}'")
    if said is not None and said.relative_file_paths:
        # Before version 4 the folder stood before the name; files elsewhere are none of the bag's.
        return [BagFile(path / Path(name).name) for name in said.relative_file_paths]
    for suffix in (".mcap", SQLITE_SUFFIX):
        found = {file.name.removesuffix(PACKED): file for file in path.glob(f"*{suffix}{PACKED}")}
        # A file that is still there was being compressed when its recording was killed.
        found |= {file.name: file for file in path.glob(f"*{suffix}")}
        if found:
            # By number: `_10` comes after `_9`.
            return [BagFile(found[name]) for name in sorted(found, key=lambda name: (len(name), name))]
    raise BagError(f"'{path}' holds no MCAP or SQLite file")


def _reader(path: Path) -> FileReader:
    return SqliteReader(path) if path.suffix == SQLITE_SUFFIX else McapReader(path)
