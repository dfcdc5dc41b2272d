"""The engine's spectrum: 80 mel bins, 100 frames a second (log_mel_spectrogram of whisper.cpp)."""

import numpy as np
import torch

RATE_HZ = 16_000
BINS = 80
FFT = 400
HOP = 160
FLOOR = 1e-10
LINEAR_HZ = 1000.0
HZ_PER_MEL = 200 / 3
LINEAR_MELS = LINEAR_HZ / HZ_PER_MEL
LOG_STEP = np.log(6.4) / 27


def filters() -> np.ndarray:
    """Slaney's triangular filters of equal area, [BINS, FFT / 2 + 1]. model-writer.ts has the same."""
    def mel_of(hz: float) -> float:
        return hz / HZ_PER_MEL if hz < LINEAR_HZ else LINEAR_MELS + np.log(hz / LINEAR_HZ) / LOG_STEP

    def hertz_of(mel: float) -> float:
        return mel * HZ_PER_MEL if mel < LINEAR_MELS else LINEAR_HZ * np.exp(LOG_STEP * (mel - LINEAR_MELS))

    edges = [hertz_of(mel_of(RATE_HZ / 2) * index / (BINS + 1)) for index in range(BINS + 2)]
    hz = np.arange(FFT // 2 + 1) * RATE_HZ / FFT
    rows = [2 / (high - low) * np.maximum(0, np.minimum((hz - low) / (centre - low), (high - hz) / (high - centre)))
            for low, centre, high in zip(edges, edges[1:], edges[2:])]
    return np.stack(rows).astype(np.float32)


_FILTERS = torch.from_numpy(filters())
_WINDOW = torch.hann_window(FFT)


def power(samples: np.ndarray) -> torch.Tensor:
    """Mel power of samples between -1 and 1: [frames, BINS]."""
    padded = np.concatenate([samples[1:FFT // 2 + 1][::-1], samples, np.zeros(FFT, dtype=np.float32)]).astype(np.float32)
    spectrum = torch.stft(torch.from_numpy(padded), FFT, HOP, window=_WINDOW, center=False, return_complex=True)
    return (_FILTERS @ spectrum.abs().square()).T[: len(samples) // HOP + 1]


def normalised(mel_power: torch.Tensor) -> torch.Tensor:
    """Turns power [..., frames, BINS] into the encoder's input. Values far below the maximum are raised to a floor."""
    log = mel_power.clamp_min(FLOOR).log10()
    loudest = log.amax(dim=(-2, -1), keepdim=True)
    return (torch.maximum(log, loudest - 8) + 4) / 4
