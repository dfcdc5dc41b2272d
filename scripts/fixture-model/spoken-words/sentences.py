"""The words and sentences of the training data (words.json)."""

import hashlib
import json
import random
from pathlib import Path

SPOKEN = json.loads((Path(__file__).parent / "words.json").read_text())
WORDS = sorted({word for words in SPOKEN["lists"].values() for word in words}
               | {word for sentence in SPOKEN["sentences"] for word in sentence.split() if "{" not in word})


def is_held_out(words: list[str]) -> bool:
    """True if the sentence is kept for evaluation: one in ten of those with three words or more. held-out.ts has the same rule."""
    return len(words) > 2 and hashlib.sha256(" ".join(words).encode()).digest()[0] % 10 == 0


def random_words(chance: random.Random, held_out: bool) -> list[str]:
    """Returns the words of an utterance: a sentence of the grammar, digits, or random words, so that the model does not only learn usual sentences."""
    while True:
        words = _any_words(chance)
        if is_held_out(words) == held_out:
            return words


def _any_words(chance: random.Random) -> list[str]:
    kind = chance.random()
    if kind < 0.12:
        return [chance.choice(WORDS)]
    if kind < 0.32:
        return [chance.choice(SPOKEN["lists"]["digit"]) for _ in range(chance.randint(2, 7))]
    if kind < 0.55:
        return [chance.choice(WORDS) for _ in range(chance.randint(2, 6))]
    sentence = chance.choice(SPOKEN["sentences"])
    return [chance.choice(SPOKEN["lists"][word[1:-1]]) if word.startswith("{") else word for word in sentence.split()]
