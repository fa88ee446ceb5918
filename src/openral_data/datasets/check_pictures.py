"""Check of the images of a LeRobot v3 dataset: the ranges of videos, and whether images can be decoded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from openral_core.errors import OpenralError
from openral_data.episode import decode_png
from openral_data.lerobot_meta import size_of
from openral_data.lerobot_v3 import Dataset
from openral_data.video_reader import Clip, clips, decode_episodes, video_header

Spans = Sequence[tuple[int, int, int]]


def picture_faults(
    dataset: Dataset, spans: Spans, *, decode: bool, episodes: Collection[int] | None = None
) -> Iterator[str]:
    """Yield the faults of all cameras.

    Args:
        dataset: the dataset.
        spans: number, first row and last row + 1 of each episode.
        decode: whether every image is decoded; else only headers are checked.
        episodes: numbers of the episodes whose videos are checked; None: all.
    """
    for camera in dataset.cameras:
        feature = dataset.info["features"][camera]
        if size_of(feature) is None:
            yield f"{camera}: its shape is {feature['shape']}, expected height, width and channels"
        elif feature["dtype"] == "video":
            yield from _video_faults(dataset, camera, spans, decode, episodes)
        elif decode:
            yield from _image_faults(dataset, camera, spans)


def _video_faults(
    dataset: Dataset, camera: str, spans: Spans, decode: bool, episodes: Collection[int] | None
) -> Iterator[str]:
    try:
        found = clips(dataset.root, dataset.info, dataset.episodes, camera)
    except OpenralError as error:
        yield str(error)
        return
    fps, size = float(dataset.info["fps"]), size_of(dataset.info["features"][camera]) or (0, 0)
    bad: set[str] = set()
    chosen = [
        (span, clip)
        for span, clip in zip(spans, found, strict=True)
        if episodes is None or span[0] in episodes
    ]
    ends_s: dict[str, float] = {}
    for path in dict.fromkeys(clip.path for _, clip in chosen):
        where = path.relative_to(dataset.root)
        try:
            header = video_header(path)
        except OpenralError as error:
            bad.add(str(path))
            yield str(error)
            continue
        ends_s[str(path)] = header.duration_s
        if (header.height, header.width) != size:
            yield f"{where}: {header.height}x{header.width} px, meta/info.json says {size[0]}x{size[1]}"
        if header.fps and abs(header.fps - fps) > 0.01 * fps:
            yield f"{where}: {header.fps:g} frames a second, meta/info.json says {fps:g}"
    within: list[tuple[int, Clip]] = []
    for (number, _, _), clip in chosen:
        if str(clip.path) in bad:
            continue
        end_s, duration_s = clip.start_s + clip.frames / fps, ends_s[str(clip.path)]
        if duration_s and end_s > duration_s + 1.0 / fps:
            yield f"episode {number}: {camera} ends at {end_s:.3f} s, its video at {duration_s:.3f} s"
        else:
            within.append((number, clip))
    if decode:
        yield from _decoding_faults(within, fps, camera)


def _decoding_faults(episodes: Sequence[tuple[int, Clip]], fps: float, camera: str) -> Iterator[str]:
    """Yield the first fault of each episode; a video without any is decoded once, however many episodes it holds."""
    waiting = list(episodes)
    while waiting:
        seen = 0
        try:
            for _ in decode_episodes([clip for _, clip in waiting], fps):
                seen += 1
            return
        except OpenralError as error:
            place = 0
            while seen >= waiting[place][1].frames:
                seen -= waiting[place][1].frames
                place += 1
            yield f"episode {waiting[place][0]} frame {seen}: {camera}: {error}"
        waiting = waiting[place + 1 :]


def _image_faults(dataset: Dataset, camera: str, spans: Spans) -> Iterator[str]:
    size = size_of(dataset.info["features"][camera]) or (0, 0)
    row = 0
    for path in dataset.files():
        if camera not in pq.read_schema(path).names:
            yield f"{path.relative_to(dataset.root)}: has no column {camera}"
            return
        first = row
        with pq.ParquetFile(path) as file:
            try:
                for batch in file.iter_batches(64, columns=[camera]):
                    for cell in batch.column(0).to_pylist():
                        if fault := _image_fault(cell, size):
                            number, begin = next(((n, a) for n, a, b in spans if a <= row < b), (-1, 0))
                            yield f"episode {number} frame {row - begin}: {camera} {fault}"
                        row += 1
            except (OSError, pa.ArrowException) as error:
                why = " ".join(str(error).split())
                yield f"{path.relative_to(dataset.root)}: column {camera} cannot be read ({why}); fetch it again"
            row = first + int(file.metadata.num_rows)


def _image_fault(cell: object, size: tuple[int, int]) -> str:
    data = cell.get("bytes") if isinstance(cell, dict) else None
    if not data or not isinstance(data, bytes):
        return "holds no picture; embed it"
    try:
        height, width = decode_png(data).shape[:2]
    except OpenralError as error:
        return f"cannot be decoded ({error})"
    return (
        "" if (height, width) == size else f"is {height}x{width} px, meta/info.json says {size[0]}x{size[1]}"
    )
