"""Videos in an HTML page, embedded as data URLs, so that the page is a single file."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

GALLERY_STYLE = """
.films { display: flex; flex-wrap: wrap; gap: .8rem; margin: .4rem 0 1.2rem; }
figure { margin: 0; width: 200px; } video { width: 200px; height: 200px; background: #eee; display: block; }
figcaption { font-size: .85em; } figure.s figcaption { color: #375; } figure.f figcaption { color: #a33; }
"""


def thumbnails(videos: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    """Yield the HTML of the videos' section, task by task; nothing if there are no videos.

    Args:
        videos: records of `openral_benchmark.videos.draw_videos`.
        folder: in which their files lie; those that are gone, those elsewhere, and those that are no MP4 are left out:
            a result may come from anybody and name any file, and the page may go anywhere.
    """
    there = [video for video in videos if _is_video_in(folder, video["file"])]
    if not there:
        return
    words = "The first successes and failures of each task, from the scene's first camera, in real time."
    yield f"<h2>Films</h2><p>{words}</p>"
    for task in dict.fromkeys(video["task"] for video in there):
        yield f"<h3>{escape(task)}</h3><div class=films>"
        yield from (_figure(video, folder) for video in there if video["task"] == task)
        yield "</div>"


def _is_video_in(folder: Path, name: str) -> bool:
    path = (folder / name).resolve()
    return path.is_relative_to(folder.resolve()) and path.suffix == ".mp4" and path.is_file()


def _figure(video: dict[str, Any], folder: Path) -> str:
    data = base64.b64encode((folder / video["file"]).read_bytes()).decode("ascii")
    kind, word = ("s", "solved") if video["success"] else ("f", "failed")
    words = f"state {video['init_id']}: {word} after {video['steps']} steps"
    # The videos are muted, but do not start by themselves, since a page may hold a hundred of them.
    return (
        f"<figure class={kind}><video controls loop muted playsinline preload=metadata "
        f"src='data:video/mp4;base64,{data}'></video><figcaption>{escape(words)}</figcaption></figure>"
    )
