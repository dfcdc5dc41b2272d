"""Prints the vectors of texts as a published encoder of the BERT family gives them: its weights, by NumPy, and its
authors' tokenizer. Usage: published_vectors.py FOLDER < texts, a JSON list. The vectors are a JSON list of lists."""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

folder = Path(sys.argv[1])
config = json.loads((folder / "config.json").read_text())
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(config["max_position_embeddings"])

raw = (folder / "model.safetensors").read_bytes()
header_end = 8 + struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:header_end])


def tensor(name):
    start, end = header[name]["data_offsets"]
    values = np.frombuffer(raw[header_end + start : header_end + end], dtype="<f4")
    return values.reshape(header[name]["shape"])


def linear(x, name):
    return x @ tensor(f"{name}.weight").T + tensor(f"{name}.bias")


def normed(x, name):
    mean = x.mean(-1, keepdims=True)
    spread = np.sqrt(x.var(-1, keepdims=True) + config["layer_norm_eps"])
    return (x - mean) / spread * tensor(f"{name}.weight") + tensor(f"{name}.bias")


erf = np.vectorize(math.erf, otypes=[np.float32])


def attention(x, name):
    heads = config["num_attention_heads"]
    count, width = x.shape
    split = lambda part: linear(x, f"{name}.self.{part}").reshape(count, heads, width // heads).transpose(1, 0, 2)
    scores = split("query") @ split("key").transpose(0, 2, 1) / math.sqrt(width // heads)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    joined = (weights @ split("value")).transpose(1, 0, 2).reshape(count, width)
    return normed(linear(joined, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")


def vector(text):
    ids = tokenizer.encode(text).ids
    x = tensor("embeddings.word_embeddings.weight")[ids] + tensor("embeddings.position_embeddings.weight")[: len(ids)]
    x = normed(x + tensor("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        x = attention(x, f"{name}.attention")
        inner = linear(x, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = normed(linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
    mean = x.mean(0)
    return (mean / np.linalg.norm(mean)).tolist()


print(json.dumps([vector(text) for text in json.load(sys.stdin)]))
