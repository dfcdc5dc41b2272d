"""Makes training batches: utterances with varied rooms and noise, and silence."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import mel

FRAMES_PER_POSITION = 2
NOISE_SECONDS = 40
# Some words are shorter.
SHORTEST_FRAMES = 60


@dataclass
class Utterance:
    words: list[int]
    frames: list[int]  # start frame of each word, and the end of the last
    log_power: np.ndarray  # log10, [frames, BINS]


class Utterances:
    """Reads the files of synthesise.py."""

    def __init__(self, folder: Path) -> None:
        self._index: list[tuple[np.ndarray, int, dict]] = []
        for path in sorted(folder.glob("index-*.json")):
            mels = np.load(path.with_name(path.name.replace("index", "mel")).with_suffix(".npy"), mmap_mode="r")
            start = 0
            for entry in json.loads(path.read_text()):
                self._index.append((mels, start, entry))
                start += entry["frames"][-1]

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, number: int) -> Utterance:
        mels, start, entry = self._index[number]
        return Utterance(entry["words"], entry["frames"], np.asarray(mels[start:start + entry["frames"][-1]], dtype=np.float32))


@dataclass
class Batch:
    mels: Tensor  # [batch, frames, BINS], the input of the encoder
    words: list[list[int]]
    places: list[list[tuple[int, int]]]  # encoder positions of each word


class Mixer:
    def __init__(self, utterances: Utterances, seed: int) -> None:
        self._utterances = utterances
        self._chance = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        white = self._numbers.standard_normal(NOISE_SECONDS * mel.RATE_HZ).astype(np.float32)
        self._noise = mel.power(white).numpy()

    def batch(self, size: int, positions: int) -> Batch:
        frames_max = positions * FRAMES_PER_POSITION
        sounds, words, places = [], [], []
        for _ in range(size):
            power, said, frames = self._sound(frames_max)
            sounds.append(np.pad(power, ((0, frames_max - len(power)), (0, 0))))
            words.append(said)
            places.append([(start // FRAMES_PER_POSITION, max(start // FRAMES_PER_POSITION + 1, end // FRAMES_PER_POSITION)) for start, end in frames])
        return Batch(mel.normalised(torch.from_numpy(np.stack(sounds).astype(np.float32))), words, places)

    def _sound(self, frames_max: int) -> tuple[np.ndarray, list[int], list[tuple[int, int]]]:
        """Returns mel power, and its words with the frames of each."""
        chance = self._chance
        if chance.random() < 0.04:
            return self._silence(chance.randint(20, frames_max)), [], []
        margins = chance.randint(0, 45) + chance.randint(0, 45)
        utterance = self._fitting(frames_max - margins)
        pieces, words, places = [], [], []
        start = lead = chance.randint(0, min(45, margins))
        while True:
            pieces.append(10 ** (utterance.log_power + chance.uniform(-0.3, 0.3)))
            words += utterance.words
            bounds = [start + frame for frame in utterance.frames]
            places += list(zip(bounds, bounds[1:]))
            start += utterance.frames[-1]
            room = frames_max - margins - (start - lead)
            gap = chance.randint(3, 50)
            if room < 80 + gap or chance.random() < 0.6 or len(words) > 16:
                break
            utterance = self._fitting(room - gap)
            pieces.append(np.zeros((gap, mel.BINS), dtype=np.float32))
            start += gap
        speech = np.concatenate([np.zeros((lead, mel.BINS), dtype=np.float32), *pieces, np.zeros((margins - lead, mel.BINS), dtype=np.float32)])
        return self._heard(speech[:frames_max]), words, places

    def _fitting(self, frames_max: int) -> Utterance:
        """Returns an utterance with a changed speed and vocal tract length."""
        while True:
            utterance = self._utterances[self._chance.randrange(len(self._utterances))]
            length = round(utterance.frames[-1] * self._chance.choice((1, 1, self._chance.uniform(0.85, 1.15))))
            if length <= frames_max:
                return self._stretched(utterance, length)
            frames_max += 2 if frames_max < SHORTEST_FRAMES else 0

    def _stretched(self, utterance: Utterance, length: int) -> Utterance:
        chance = self._chance
        power = utterance.log_power
        if length != len(power):
            power = interpolated(power, np.linspace(0, len(power) - 1, length))
        if chance.random() < 0.35:
            bins = np.minimum(np.arange(mel.BINS) * chance.uniform(0.93, 1.08) + chance.uniform(-0.5, 0.5), mel.BINS - 1).clip(0)
            power = interpolated(power.T, bins).T
        share = length / utterance.frames[-1]
        return Utterance(utterance.words, [min(length, round(frame * share)) for frame in utterance.frames], power)

    def _heard(self, speech: np.ndarray) -> np.ndarray:
        chance = self._chance
        power = speech * 10 ** (self._colour(0.6) if chance.random() < 0.4 else 0.0)
        if chance.random() < 0.5:
            level = power.sum(axis=1)
            loudness = level[level > level.max() * 1e-3].mean()
            power = power + self._noise_of(len(power)) * loudness * 10 ** -chance.uniform(0.7, 3.5)
        if chance.random() < 0.1:
            start = chance.randrange(mel.BINS - 8)
            power[:, start:start + chance.randint(1, 8)] *= 1e-3
        return power * 10 ** chance.uniform(-2.5, 0.5)

    def _silence(self, frames: int) -> np.ndarray:
        chance = self._chance
        if chance.random() < 0.2:
            return np.zeros((frames, mel.BINS), dtype=np.float32)
        noise = self._noise_of(frames) * 10 ** chance.uniform(-7, 0)
        if chance.random() < 0.4:  # a click or a knock
            start, length = chance.randrange(frames), chance.randint(1, 10)
            noise[start:start + length] += self._noise_of(length)[: len(noise[start:start + length])] * noise.max() * 10 ** chance.uniform(0, 2)
        return noise

    def _noise_of(self, frames: int) -> np.ndarray:
        """Returns noise of a random colour with a total power of about one."""
        start = self._chance.randrange(len(self._noise) - frames)
        tilt = np.linspace(0, self._chance.choice((0, self._chance.uniform(-4, 1))), mel.BINS)
        noise = self._noise[start:start + frames] * 10 ** (self._colour(self._chance.choice((0, 1.5))) + tilt)
        if self._chance.random() < 0.3:  # varies over time
            waves = np.sin(np.arange(frames) * self._chance.uniform(0.01, 0.3) + self._chance.uniform(0, 6))
            noise = noise * 10 ** (0.6 * waves)[:, None]
        return noise / noise.sum(axis=1).mean()

    def _colour(self, strength: float) -> np.ndarray:
        """Returns log10 of the gain of a random microphone and room in each bin."""
        waves = [self._chance.gauss(0, strength / 3 / wave) * np.cos(np.pi * wave * np.arange(mel.BINS) / mel.BINS + self._chance.uniform(0, 6)) for wave in (1, 2, 3, 5)]
        return np.sum(waves, axis=0)


def interpolated(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, len(rows) - 1)
    share = (places - low)[:, None].astype(np.float32)
    return rows[low] * (1 - share) + rows[high] * share
