"""Speech from libespeak-ng, with the place of each word in it."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, Union, c_char_p, c_int, c_short, c_uint, c_void_p
from dataclasses import dataclass

import numpy as np

LIBRARY = "libespeak-ng.so.1"
SYNCHRONOUS = 2
UTF8 = 1
WORD_EVENT = 1
RATE, VOLUME, PITCH, RANGE = 1, 2, 3, 4


class _Id(Union):
    _fields_ = [("number", c_int), ("name", c_char_p), ("string", ctypes.c_char * 8)]


class _Event(Structure):
    _fields_ = [("type", c_int), ("unique_identifier", c_uint), ("text_position", c_int), ("length", c_int), ("audio_position", c_int),
                ("sample", c_int), ("user_data", c_void_p), ("id", _Id)]


@dataclass
class Manner:
    voice: str  # such as en-us+f3
    words_per_minute: int
    pitch: int  # 0 to 99
    range: int  # how far the pitch moves: 0 to 99


class Espeak:
    def __init__(self) -> None:
        self._library = ctypes.CDLL(LIBRARY)
        self.rate_hz = self._library.espeak_Initialize(SYNCHRONOUS, 0, None, 0)
        self._pieces: list[np.ndarray] = []
        self._word_events: list[tuple[int, float]] = []
        kind = CFUNCTYPE(c_int, POINTER(c_short), c_int, POINTER(_Event))
        self._callback = kind(self._take)
        self._library.espeak_SetSynthCallback(self._callback)

    def say(self, words: list[str], manner: Manner, joint: str = " ") -> tuple[np.ndarray, list[float]]:
        """Returns samples between -1 and 1 at `rate_hz`, and the start of each word in seconds."""
        self._pieces, self._word_events = [], []
        if self._library.espeak_SetVoiceByName(manner.voice.encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {manner.voice}")
        for parameter, value in ((RATE, manner.words_per_minute), (PITCH, manner.pitch), (RANGE, manner.range)):
            self._library.espeak_SetParameter(parameter, value, 0)
        text = joint.join(words).encode()
        self._library.espeak_Synth(text, len(text) + 1, 0, 1, 0, UTF8, None, None)
        sound = np.concatenate(self._pieces).astype(np.float32) / 32768 if self._pieces else np.zeros(0, dtype=np.float32)
        return sound, self._starts(words, joint, len(sound) / self.rate_hz)

    def _take(self, samples, count: int, events) -> int:
        if count > 0:
            self._pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        index = 0
        while events[index].type != 0:
            if events[index].type == WORD_EVENT:
                self._word_events.append((events[index].text_position - 1, events[index].audio_position / 1000))
            index += 1
        return 0

    def _starts(self, words: list[str], joint: str, end: float) -> list[float]:
        """espeak-ng joins some words, such as "on the". They share the time of both."""
        known = dict(self._word_events)
        places, place = [], 0
        for word in words:
            places.append(place)
            place += len(word) + len(joint)
        starts = [known.get(place) for place in places] + [end]
        starts[0] = starts[0] or 0.0
        for index in range(1, len(words)):
            if starts[index] is None:
                following = next(later for later in range(index + 1, len(starts)) if starts[later] is not None)
                starts[index] = starts[index - 1] + (starts[following] - starts[index - 1]) / (following - index + 1)
        return starts[:-1]
