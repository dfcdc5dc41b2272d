"""Writes a tiny llama model with random weights as GGUF: nonsense in well-formed words, for trying a real model server without any download.

Usage: tiny_model.py FILE
"""

import sys

import gguf
import numpy

EMBEDDING, HEADS, LAYERS, FEED_FORWARD, CONTEXT = 64, 4, 2, 128, 2048
WORDS = "the a tide light stone river moves under over slow bright quiet and then near far again sings turns falls rises".split()
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"


def vocabulary() -> tuple[list[str], list[float], list[int]]:
    """Token texts, scores and types: three control tokens, every byte, a few words."""
    special = [("<unk>", 0.0, gguf.TokenType.UNKNOWN), ("<s>", 0.0, gguf.TokenType.CONTROL), ("</s>", 0.0, gguf.TokenType.CONTROL)]
    singles = [(f"<0x{byte:02X}>", 0.0, gguf.TokenType.BYTE) for byte in range(256)]
    words = [(f"\u2581{word}", -float(rank), gguf.TokenType.NORMAL) for rank, word in enumerate(WORDS)]
    texts, scores, types = zip(*(special + singles + words))
    return list(texts), list(scores), [int(kind) for kind in types]


def write(path: str) -> None:
    random = numpy.random.default_rng(7)
    texts, scores, types = vocabulary()

    def tensor(*shape: int) -> numpy.ndarray:
        return (random.standard_normal(shape) / numpy.sqrt(shape[-1])).astype(numpy.float32)

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_vocab_size(len(texts))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    output = tensor(len(texts), EMBEDDING)
    output[:259] *= 0.01  # Words, not bytes, are what a random state points at.
    output[259:] *= 4
    writer.add_tensor("token_embd.weight", tensor(len(texts), EMBEDDING))
    writer.add_tensor("output_norm.weight", numpy.ones(EMBEDDING, dtype=numpy.float32))
    writer.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", numpy.ones(EMBEDDING, dtype=numpy.float32))
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", numpy.ones(EMBEDDING, dtype=numpy.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", tensor(EMBEDDING, EMBEDDING))
        writer.add_tensor(f"blk.{layer}.ffn_gate.weight", tensor(FEED_FORWARD, EMBEDDING))
        writer.add_tensor(f"blk.{layer}.ffn_up.weight", tensor(FEED_FORWARD, EMBEDDING))
        writer.add_tensor(f"blk.{layer}.ffn_down.weight", tensor(EMBEDDING, FEED_FORWARD))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
