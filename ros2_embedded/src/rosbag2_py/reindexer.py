"""Completing of bags whose recording was killed."""

from __future__ import annotations

import shutil
from pathlib import Path

from .errors import BagError, writing
from .metadata import FILE_NAME
from .options import StorageOptions
from .sequential_reader import SequentialReader
from .sequential_writer import SequentialWriter

KEPT = ".damaged"
"""What stands behind the name of a damaged file that was kept."""


class Reindexer:
    """Gives a bag back its index and its `metadata.yaml`, so that every reader takes it."""

    def reindex(self, storage_options: StorageOptions) -> int:
        """Write the bag's files anew and return how many messages they hold.

        The old files are replaced only when the new ones are complete. One that is damaged within, and not
        only cut off at its end, is kept under its name with `.damaged` behind it.

        Raises:
            BagError: the bag is no directory, nothing readable is there, or nothing can be written there.
        """
        folder = Path(storage_options.uri)
        if not folder.is_dir():
            raise BagError(f"'{folder}' is no directory of a bag")
        reader = SequentialReader()
        reader.open(storage_options)
        work = folder / ".reindex"
        shutil.rmtree(work, ignore_errors=True)  # of an attempt that was killed itself
        try:
            with writing(storage_options.uri):
                return self._rewrite(reader, folder, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _rewrite(self, reader: SequentialReader, folder: Path, work: Path) -> int:
        """Write the files anew in a folder of their own, then put them in the place of the old ones."""
        old = [folder / name for name in reader.get_metadata().relative_file_paths]
        made = work / folder.resolve().name  # files are named after their folder
        count = 0
        with SequentialWriter() as writer:
            writer.open(StorageOptions(uri=str(made), storage_id=reader.get_metadata().storage_identifier))
            definitions = {one.topic_type: one for one in reader.get_all_message_definitions()}
            for topic in reader.get_all_topics_and_types():
                writer.create_topic(topic, definitions[topic.type])
            while reader.has_next():
                message = reader.read_message()
                writer.write(message.topic, message.data, message.log_time, message.publish_time)
                count += 1
        for path in reader.damaged:
            path.replace(path.with_name(path.name + KEPT))
        new = sorted(path for path in made.iterdir() if path.name != FILE_NAME)
        for path in new:
            path.replace(folder / path.name)
        for path in {*old} - {folder / path.name for path in new}:
            path.unlink(missing_ok=True)
        (made / FILE_NAME).replace(folder / FILE_NAME)
        return count
