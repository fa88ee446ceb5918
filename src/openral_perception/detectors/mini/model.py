"""A checkpoint of the small detector as an ObjectDetector."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from openral_perception.detection import Detection
from openral_perception.detectors.mini.goal_markers import find_spots
from openral_perception.detectors.mini.network import STRIDE, MiniDetectorConfig, MiniDetectorNetwork
from openral_perception.words import Wanted, read_words
from openral_rskill.mini.checkpoint import load_network

COLOUR_KNOWN = 0.5
"""Least probability of a colour for it to be part of a detection's label."""
SIGMA_CELLS = 0.25
"""[cells] standard deviation of a peak's position."""


class MiniDetector:
    """Finds objects of the labels that it was trained on, and goal markers; words choose among them."""

    def __init__(
        self, network: MiniDetectorNetwork, threshold: float, name: str = "mini", device: str = "cpu"
    ) -> None:
        """Wrap a network.

        Args:
            network: its weights are kept in float32.
            threshold: least score of a detection, 0 to 1.
            name: source that answers name.
            device: torch device.
        """
        torch.set_num_threads(1)  # for one small image threads cost more than they gain
        self.name = name
        self.config = network.config
        self._network, self._threshold = network.float().eval().to(device), threshold
        self._device = torch.device(device)

    def find(self, image: NDArray[np.uint8], words: str) -> list[Detection]:
        """Return the objects in an image (H, W, 3) uint8 RGB, those that fit the words best first.

        Raises:
            ContractError: the words name no label.
        """
        labels = (*self.config.labels, *self.config.markers)
        wanted = read_words(words, labels, self.config.synonyms)
        side = self.config.image_size
        pixels = cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA)
        batch = torch.from_numpy(pixels).to(self._device).permute(2, 0, 1)[None]
        with torch.inference_mode():
            heat, colour, size = (found[0].cpu() for found in self._network(batch))
        scores, colours = torch.sigmoid(heat).numpy(), torch.softmax(colour, dim=0).numpy()
        scale = (image.shape[1] / side * STRIDE, image.shape[0] / side * STRIDE)
        found = [
            self._detection(label, peak, (scores[index], colours, size.numpy()), wanted, scale)
            for index, label in enumerate(self.config.labels)
            for peak in _peaks(scores[index], self._threshold)
        ]
        found += self._markers(image, wanted)
        return sorted(found, key=lambda one: one.fit * one.score, reverse=True)

    def close(self) -> None:
        """Do nothing: it holds no process."""

    def _markers(self, image: NDArray[np.uint8], wanted: Wanted) -> list[Detection]:
        """Return the markers in an image; their fit to the words is 0 or 1, since their colour is certain."""
        return [
            Detection(
                u=spot.u,
                v=spot.v,
                box=(
                    spot.u - spot.half_width,
                    spot.v - spot.half_height,
                    spot.u + spot.half_width,
                    spot.v + spot.half_height,
                ),
                label=f"{spot.colour} {label}",
                score=spot.roundness,
                fit=float(label in wanted.labels and (not wanted.colours or spot.colour in wanted.colours)),
                pixel_sigma=spot.sigma_px,
                inward_m=self.config.inward_m.get(label, 0.0),
            )
            for spot in (find_spots(image) if self.config.markers else ())
            for label, colours in self.config.markers.items()
            if spot.colour in colours
        ]

    def _detection(
        self,
        label: str,
        peak: tuple[int, int],
        maps: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]],
        wanted: Wanted,
        scale: tuple[float, float],
    ) -> Detection:
        """Return the detection of a peak.

        Args:
            label: whose heat map has the peak.
            peak: row and column of its cell.
            maps: scores (h, w) of the label, colour probabilities (C, h, w), and half sizes (2, h, w) [cells].
            wanted: labels and colours of the request.
            scale: [px] of the image for each cell, across and down.
        """
        score, colours, size = maps
        row, column = peak
        across, down = _refined(score, row, column)
        half_width, half_height = (float(half) for half in size[:, row, column])
        place = ((across - half_width), (down - half_height), (across + half_width), (down + half_height))
        shares = colours[:, row, column]
        known = dict(zip(self.config.colours, shares.tolist(), strict=True))
        best = max(known, key=lambda name: known[name], default="")
        named = f"{best} " if known.get(best, 0.0) >= COLOUR_KNOWN else ""
        asked = sum(known.get(name, 0.0) for name in wanted.colours) if wanted.colours else 1.0
        fit = float(label in wanted.labels) * asked
        return Detection(
            u=across * scale[0],
            v=down * scale[1],
            box=(place[0] * scale[0], place[1] * scale[1], place[2] * scale[0], place[3] * scale[1]),
            label=named + label,
            score=float(score[row, column]),
            fit=min(fit, 1.0),
            pixel_sigma=SIGMA_CELLS * max(scale),
            inward_m=self.config.inward_m.get(label, 0.0),
        )


def load_folder(folder: Path, threshold: float, name: str = "mini", device: str = "cpu") -> MiniDetector:
    """Load the checkpoint in `folder`.

    Raises:
        PolicyError: a file is missing or does not fit the network.
    """
    network = load_network(folder, lambda **fields: MiniDetectorNetwork(MiniDetectorConfig(**fields)))
    return MiniDetector(network, threshold, name, device)


def _peaks(score: NDArray[np.float32], threshold: float) -> list[tuple[int, int]]:
    """Return the cells (row, column) that are the greatest of their eight neighbours and above the threshold."""
    highest = cv2.dilate(score, np.ones((3, 3), np.uint8))
    rows, columns = np.nonzero((score >= highest) & (score >= threshold))
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]


def _refined(score: NDArray[np.float32], row: int, column: int) -> tuple[float, float]:
    """Return the position (across, down) of a peak, in cells from the left and upper edge.

    Along each axis it is the vertex of the parabola through the logarithms of three cells, exact for a Gaussian bump.
    """
    logs = np.log(np.pad(score, 1, mode="edge") + 1e-6)
    row, column = row + 1, column + 1
    here = logs[row, column]
    across = _vertex(logs[row, column - 1], here, logs[row, column + 1])
    down = _vertex(logs[row - 1, column], here, logs[row + 1, column])
    return column - 0.5 + across, row - 0.5 + down


def _vertex(before: float, here: float, after: float) -> float:
    bend = 2 * here - before - after
    return float(np.clip((after - before) / (2 * bend), -0.6, 0.6)) if bend > 1e-6 else 0.0
