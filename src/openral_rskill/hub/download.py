"""Download of one file from the hub: resumed after an interruption and verified by its hash."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import time
from collections.abc import Callable
from pathlib import Path

from openral_core.errors import HubError
from openral_rskill.hub.client import HubClient, HubFile
from openral_rskill.store.repo_id import HubReference

Progress = Callable[[str, int, int], None]
"""Called during a download with (path of the file, bytes so far, bytes in total); the total is -1 if it is unknown."""
CHUNK = 1024 * 1024
PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
"""[s] pauses before successive retries; an attempt that received data starts the sequence again."""
PARTIAL = ".part"


def fetch(client: HubClient, reference: HubReference, file: HubFile, target: Path, progress: Progress) -> str:
    """Download a file of a pinned repository, or complete it, and return its sha256.

    An existing file that agrees with its hash is not downloaded. A partial download is kept in `<target>.part` until it
    is complete and verified; the next call resumes it.

    Raises:
        HubError: the network fails repeatedly, the disk is full, or the content differs from the hub's hash.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    has_hash = file.sha256 is not None or file.git_sha1 is not None
    if has_hash and target.is_file() and (found := check_file(target, file)) is not None:
        return found
    part = target.with_name(target.name + PARTIAL)
    tries = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            _append(client, reference, file, part, progress)
            break
        except (OSError, http.client.HTTPException, HubError) as error:
            _refuse_full_disk(error, target)
            if before and _status(error) == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.unlink()  # it has all bytes, or more; without a size or a hash nobody knows which
                continue
            tries = 0 if part.exists() and part.stat().st_size > before else tries + 1
            if tries > len(PAUSES_S) or (isinstance(error, HubError) and not _may_pass(error)):
                raise _given_up(error, reference, file) from error
            time.sleep(PAUSES_S[max(tries - 1, 0)])
    digest = check_file(part, file)
    if digest is None:
        part.unlink()
        raise HubError(
            f"{reference.repository}/{file.path}: the bytes do not fit the hub's hash; "
            "they were thrown away, try again"
        )
    os.replace(part, target)
    return digest


def check_file(path: Path, file: HubFile) -> str | None:
    """Return the sha256 of a file, or None if it differs from the hub's hash."""
    sha256, git = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    git.update(f"blob {path.stat().st_size}\0".encode())
    with path.open("rb") as stream:
        while block := stream.read(CHUNK):
            sha256.update(block)
            if file.sha256 is None:
                git.update(block)
    fits = sha256.hexdigest() == file.sha256 if file.sha256 else file.git_sha1 in (None, git.hexdigest())
    return sha256.hexdigest() if fits else None


def _append(
    client: HubClient, reference: HubReference, file: HubFile, part: Path, progress: Progress
) -> None:
    done = part.stat().st_size if part.exists() else 0
    if file.size >= 0 and done > file.size:
        part.unlink()
        done = 0
    if done == file.size and part.exists():
        progress(file.path, done, file.size)
        return
    with client.open(reference, file.path, done) as answer:
        if done and answer.status != http.client.PARTIAL_CONTENT:
            done = 0  # a server without ranges sends the whole file
        end = -1 if answer.length is None else done + answer.length  # read1 does not complain of an early end
        with part.open("ab" if done else "wb") as stream:
            while block := answer.read1(CHUNK):  # as it arrives, so that it is kept if the process is killed
                stream.write(block)
                stream.flush()
                done += len(block)
                if 0 <= file.size < done:
                    raise http.client.HTTPException("more bytes than announced")
                progress(file.path, done, file.size)
    if done < max(file.size, end):
        raise http.client.IncompleteRead(b"", max(file.size, end) - done)


def _may_pass(error: HubError) -> bool:
    """Return whether a retry may help; it does not after a refusal, such as 403 or 404."""
    code = _status(error)
    return error.__cause__ is not None and (code is None or code >= 500 or code in (408, 429))


def _status(error: Exception) -> int | None:
    """Return the HTTP status of a refusal, or None."""
    code = getattr(error.__cause__, "code", None)
    return code if isinstance(code, int) else None


def _refuse_full_disk(error: Exception, target: Path) -> None:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
        raise HubError(
            f"{target}: {error.strerror}; free some space, or set OPENRAL_CACHE_HOME to another disk"
        ) from error


def _given_up(error: Exception, reference: HubReference, file: HubFile) -> HubError:
    if isinstance(error, HubError):
        return error
    return HubError(
        f"{reference.repository}/{file.path}: broke off ({error}); run it again, it goes on from there"
    )
