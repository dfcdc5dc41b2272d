"""Writes a checkpoint of train.py as a model file of whisper.cpp, packed by gzip, and prints the model's sizes and checksums.

usage: export.py CHECKPOINT ggml-spoken-words-fixture.bin.gz
"""

import argparse
import gzip
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import torch

import mel
import network as net
from sentences import WORDS

MAGIC = 0x67676D6C
F32, F16 = 0, 1


class Writer:
    """Writes little endian, without padding between the parts."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def integers(self, *values: int) -> None:
        self.bytes += struct.pack(f"<{len(values)}i", *values)

    def text(self, text: bytes) -> None:
        self.integers(len(text))
        self.bytes += text

    def tensor(self, name: str, values: np.ndarray, kind: int = F32) -> None:
        """The file stores dimensions with the fastest-varying first."""
        self.integers(values.ndim, len(name), kind, *reversed(values.shape))
        self.bytes += name.encode() + values.astype("<f2" if kind == F16 else "<f4").tobytes()


def model_file(model: net.Network) -> bytes:
    sizes = model.sizes
    writer = Writer()
    writer.integers(MAGIC, net.VOCABULARY, sizes.audio_positions, sizes.state, sizes.heads, sizes.encoder_layers, sizes.text_positions,
                    sizes.state, sizes.heads, sizes.decoder_layers, mel.BINS, F16)
    writer.integers(mel.BINS, mel.FFT // 2 + 1)
    writer.bytes += mel.filters().astype("<f4").tobytes()
    texts = [bytes([byte]) for byte in range(net.FIRST_WORD)] + [f" {word}".encode() for word in WORDS]
    writer.integers(len(texts))
    for text in texts:
        writer.text(text)
    write_tensors(writer, model)
    return bytes(writer.bytes)


def write_tensors(writer: Writer, model: net.Network) -> None:
    sizes = model.sizes
    embedding = np.zeros((net.VOCABULARY, sizes.state), dtype=np.float32)
    embedding[net.tokens(sizes)] = model.token_embedding.detach().numpy()
    writer.tensor("decoder.token_embedding.weight", embedding, F16)
    writer.tensor("decoder.positional_embedding", model.text_positions.detach().numpy())
    writer.tensor("encoder.positional_embedding", model.audio_positions.numpy())
    others = ("token_embedding", "text_positions", "audio_positions", "moment.")
    for name, values in model.state_dict().items():
        if name.startswith(others):
            continue
        side, rest = name.split(".", 1)
        if side.startswith("conv"):
            rows = values[None].T if rest == "bias" else values
            writer.tensor(f"encoder.{name}", rows.numpy(), F32 if rest == "bias" else F16)
        elif side in ("ln_post", "decoder_ln"):
            writer.tensor({"ln_post": "encoder.ln_post.", "decoder_ln": "decoder.ln."}[side] + rest, values.numpy())
        else:
            writer.tensor(f"{side}.blocks.{rest}", values.numpy(), F16 if values.ndim == 2 else F32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    saved = torch.load(options.checkpoint)
    model = net.Network(net.Sizes(words=len(WORDS)))
    model.load_state_dict(saved["averaged"])
    unpacked = model_file(model)
    options.output.write_bytes(gzip.compress(unpacked, 9, mtime=0))
    facts = {"bytes": len(unpacked), "sha256": hashlib.sha256(unpacked).hexdigest(), "steps": saved["step"], "words": WORDS}
    print(json.dumps(facts, indent=2))
    print(options.output.stat().st_size, "bytes packed")


if __name__ == "__main__":
    main()
