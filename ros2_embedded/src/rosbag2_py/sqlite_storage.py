"""SQLite files of bags, as rosbag2's storage `sqlite3` lays them out (its schema, version 4).

What was committed survives the process, and a `flush` commits.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import quote

import yaml

from ros2_embedded.rosidl.registry import distribution

from .errors import BagError
from .mcap_reader import McapMessage, McapTopic

SUFFIX = ".db3"
PRESETS = ("", "none", "resilient")
"""Storage preset profiles; each file outlives its process."""
_SCHEMA_VERSION = 4
_LATEST = 2**63 - 1  # SQLite's numbers are no greater [ns]
_TABLES = """
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
  serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
  type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
  encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
  data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
"""


class SqliteWriter:
    """One SQLite file; the counterpart of `McapWriter`.

    Args:
        path: the file; it must not exist yet.

    Raises:
        FileExistsError: the file exists.
        OSError: it cannot be written; the methods raise it, too.
    """

    def __init__(self, path: Path) -> None:
        path.open("xb").close()
        self._path = path
        self._failure: OSError | None = None  # after it SQLite has taken back what was not committed
        # By itself Python begins transactions, and commits them, at moments of its own.
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for table in filter(str.strip, _TABLES.split(";")):
            self._execute(table)
        self._types: dict[int, str] = {}
        self._defined: set[str] = set()
        self._definitions: dict[int, tuple[str, str]] = {}
        self._size = path.stat().st_size
        self._execute("INSERT INTO schema VALUES (?, ?)", (_SCHEMA_VERSION, distribution()))

    @property
    def size(self) -> int:
        """Bytes written so far, about."""
        return self._size

    def _change(self, statement: str, values: tuple[object, ...]) -> int:
        """Change the file within a transaction; returns the number of the row."""
        if not self._database.in_transaction:
            self._execute("BEGIN")
        return self._execute(statement, values).lastrowid or 0

    def _execute(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        if self._failure is not None:
            raise self._failure
        try:
            return self._database.execute(statement, values)
        except sqlite3.OperationalError as error:
            number = errno.ENOSPC if "full" in str(error) else errno.EIO
            self._failure = OSError(number, os.strerror(number), str(self._path))
            raise self._failure from error

    def add_schema(self, name: str, encoding: str, text: str) -> int:
        """Add the definition of a message type, with the first topic of it; returns its number."""
        number = len(self._types) + 1
        self._types[number], self._definitions[number] = name, (encoding, text)
        return number

    def add_channel(self, topic: str, schema_id: int, message_encoding: str, metadata: dict[str, str]) -> int:
        """Add a topic and return its number."""
        name, (encoding, text) = self._types[schema_id], self._definitions[schema_id]
        type_hash = metadata.get("topic_type_hash", "")
        if name not in self._defined:
            self._defined.add(name)
            definition = "INSERT INTO message_definitions VALUES (NULL, ?, ?, ?, ?)"
            self._change(definition, (name, encoding, text, type_hash))
        profiles = metadata.get("offered_qos_profiles", "")
        row = (topic, name, message_encoding, profiles, type_hash)
        return self._change("INSERT INTO topics VALUES (NULL, ?, ?, ?, ?, ?)", row)

    def add_message(
        self, channel_id: int, data: bytes, log_time: int, publish_time: int, sequence: int = 0
    ) -> None:
        """Add a message received at `log_time` [ns since the epoch]; the storage keeps nothing else of it."""
        self._change("INSERT INTO messages VALUES (NULL, ?, ?, ?)", (channel_id, log_time, data))
        self._size += len(data) + 16

    def flush(self, *, sync: bool = False) -> None:
        """Commit what was written; it is on the disk then, whatever `sync` says."""
        if self._database.in_transaction:
            self._execute("COMMIT")

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """Add what the bag says about itself."""
        text = values.get("serialized_metadata", "")
        version = int((yaml.safe_load(text) or {}).get("version", 0))
        self._change("INSERT INTO metadata VALUES (NULL, ?, ?)", (version, text))

    def close(self) -> None:
        """Complete the file."""
        self.flush()
        self._database.close()

    def release(self) -> None:
        """Close the file as it is, after it could not be written; what was not committed is lost."""
        self._database.close()


class SqliteReader:
    """One SQLite file; the counterpart of `McapReader`. Times are in nanoseconds since the epoch.

    Args:
        path: the file.

    Raises:
        BagError: the file is no SQLite file of a bag.
        OSError: it cannot be read.
    """

    has_index = True
    unreadable_from: int | None = None
    is_damaged = False

    def __init__(self, path: Path) -> None:
        self.path = path
        path.open("rb").close()  # says why it cannot be read
        self.topics: dict[str, McapTopic] = {}
        self.start_time = self.end_time = 0
        try:
            self._database = _open(path)
            self._look()
        except sqlite3.Error as error:
            raise BagError(f"'{path}' is no SQLite file of a bag: {error}") from error

    def _look(self) -> None:
        """Find the topics, and when their messages came."""
        columns = [row[1] for row in self._database.execute("PRAGMA table_info(topics)")]
        later = ("offered_qos_profiles", "type_description_hash")  # than the first versions of the schema
        chosen = ", ".join(name if name in columns else "''" for name in later)
        counts = dict(self._database.execute("SELECT topic_id, COUNT(*) FROM messages GROUP BY topic_id"))
        definitions = self._definitions()
        query = f"SELECT id, name, type, serialization_format, {chosen} FROM topics"
        for number, name, type_name, encoding, profiles, type_hash in self._database.execute(query):
            if not all(isinstance(text, str) for text in (name, type_name, encoding)):
                raise BagError(
                    f"'{self.path}' is damaged: what it says of the topic {name!r:.100} is no text"
                )
            metadata = {"offered_qos_profiles": str(profiles or ""), "topic_type_hash": str(type_hash or "")}
            definition = definitions.get(type_name, ("", ""))
            topic = self.topics.setdefault(
                name, McapTopic(name, type_name, encoding, metadata, definition=definition)
            )
            topic.count += counts.get(number, 0)
        first, last = self._database.execute("SELECT MIN(timestamp), MAX(timestamp) FROM messages").fetchone()
        if not isinstance(first, (int, type(None))) or not isinstance(last, (int, type(None))):
            raise BagError(f"'{self.path}' is damaged: a time in it is no number")
        self.start_time, self.end_time = first or 0, last or 0

    def _definitions(self) -> dict[str, tuple[str, str]]:
        """The definitions of types in the file, by type: how each is written, and its text."""
        if not self._database.execute("PRAGMA table_info(message_definitions)").fetchall():
            return {}  # the first versions of the schema have none
        query = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        return {name: (encoding, text) for name, encoding, text in self._database.execute(query)}

    def messages(
        self, topics: Collection[str], start: int, end: int, *, reverse: bool
    ) -> Iterator[McapMessage]:
        """Yield messages of some topics by time, from `start` to `end`, or from `end` back to `start`."""
        way = "DESC" if reverse else "ASC"
        query = (
            "SELECT topics.name, messages.data, messages.timestamp FROM messages "
            "JOIN topics ON topics.id = messages.topic_id WHERE messages.timestamp BETWEEN ? AND ? "
            f"AND topics.name IN ({', '.join('?' * len(topics))}) "
            f"ORDER BY messages.timestamp {way}, messages.id {way}"
        )
        try:
            for topic, data, stamp in self._database.execute(
                query, (min(start, _LATEST), min(end, _LATEST), *topics)
            ):
                if not (isinstance(data, bytes) and isinstance(stamp, int)):
                    raise BagError(f"'{self.path}' is damaged: a message of '{topic}' is no message")
                yield McapMessage(topic, data, stamp, stamp)
        except sqlite3.Error as error:
            raise BagError(f"'{self.path}' is damaged: {error}") from error


def _open(path: Path) -> sqlite3.Connection:
    """Open a file to read it; what a killed process began and did not end is taken back first."""
    place = quote(str(path.resolve()))
    try:
        database = sqlite3.connect(f"file:{place}?mode=rw", uri=True, check_same_thread=False)
        database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # nothing may be written there
        database = sqlite3.connect(f"file:{place}?immutable=1", uri=True, check_same_thread=False)
    return database
