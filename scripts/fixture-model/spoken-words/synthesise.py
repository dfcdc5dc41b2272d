"""Speaks utterances with espeak-ng and stores their mel power, to which train.py adds noise.

usage: synthesise.py FOLDER [--utterances 24000] [--seed 1] [--held-out]
--held-out: voices, speeds, pitches and sentences that are never learnt
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np

import mel
from espeak import Espeak, Manner
from sentences import SPOKEN, WORDS, random_words

SHARD = 1500
SILENCE = 0.003
FRAMES_MAX = 620


def steps(limits: dict[str, int]) -> range:
    return range(limits["min"], limits["max"] + 1, limits["step"])


def random_manner(chance: random.Random, held_out: bool) -> Manner:
    variant = chance.choice(SPOKEN["voices"]["heldOut" if held_out else "trained"])
    aside = 5 if held_out else 0
    return Manner(
        voice=chance.choice(SPOKEN["accents"]) + (f"+{variant}" if variant else ""),
        words_per_minute=chance.choice(steps(SPOKEN["wordsPerMinute"])) - aside,
        pitch=chance.choice(steps(SPOKEN["pitch"])) - aside,
        range=chance.choice((20, 50, 50, 80)),
    )


def resampled(sound: np.ndarray, rate_hz: int) -> np.ndarray:
    """Resamples to 16 kHz through the spectrum of the whole signal."""
    length = round(len(sound) * mel.RATE_HZ / rate_hz)
    spectrum = np.fft.rfft(sound)[: length // 2 + 1]
    return (np.fft.irfft(spectrum, length) * (length / len(sound))).astype(np.float32)


def spoken(voice: Espeak, chance: random.Random, held_out: bool) -> tuple[list[str], list[int], np.ndarray] | None:
    """Returns the words, the start frame of each and the end of the last, and log10 of the mel power. None if the speech is empty or too long."""
    words = random_words(chance, held_out)
    joint = ", " if chance.random() < 0.06 else " "
    sound, starts = voice.say(words, random_manner(chance, held_out), joint)
    loud = np.flatnonzero(np.abs(sound) > SILENCE)
    if len(loud) == 0:
        return None
    first, last = loud[0], loud[-1] + 1
    starts = [max(0.0, start - first / voice.rate_hz) for start in starts]
    samples = resampled(sound[first:last], voice.rate_hz)
    power = mel.power(samples)
    if len(power) > FRAMES_MAX or len(power) < 10:
        return None
    frames = [min(len(power) - 1, round(start * 100)) for start in starts] + [len(power)]
    return words, frames, power.clamp_min(mel.FLOOR).log10().numpy().astype(np.float16)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--utterances", type=int, default=24_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(options.seed)
    voice = Espeak()
    for shard in range(options.utterances // SHARD):
        kept = []
        while len(kept) < SHARD:
            utterance = spoken(voice, chance, options.held_out)
            if utterance is not None:
                kept.append(utterance)
        np.save(options.folder / f"mel-{shard:03}.npy", np.concatenate([mels for _, _, mels in kept]))
        index = [{"words": [WORDS.index(word) for word in words], "frames": frames} for words, frames, _ in kept]
        (options.folder / f"index-{shard:03}.json").write_text(json.dumps(index))
        print(f"shard {shard}", flush=True)


if __name__ == "__main__":
    main()
