"""Trains the network on the files of synthesise.py.

usage: train.py FOLDER CHECKPOINT [--steps 6400] [--held-out FOLDER] [--seed 1]
It goes on from the checkpoint where one is there. The rate of learning is constant for the first half of the steps, so their number may change until then.
"""

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

import network as net
from noisy import Batch, Mixer, Utterances
from sentences import WORDS

THREADS = 1  # more threads wait for each other if other programs run too
RATE = 2e-3
WARM_UP = 200
CONSTANT_SHARE = 0.55
AVERAGED = 0.998
# Encoder positions of a batch, its number of sounds, and its frequency. The engine has windows of 256 to 384 positions; shorter ones train as well at less cost.
EARLY = ((96, 48, 0.65), (256, 24, 0.25), (384, 16, 0.1))
LATE = ((96, 48, 0.25), (256, 24, 0.4), (384, 16, 0.35))
MOMENT_WEIGHT = 0.4
LOOK_WEIGHT = 0.15
CHECKPOINT_STEPS = 250


def rate_at(step: int, steps: int) -> float:
    falling = (steps - step) / (steps * (1 - CONSTANT_SHARE))
    return RATE * min(1.0, (step + 1) / WARM_UP, max(0.0, falling))


class Batches(IterableDataset):
    """Yields the remaining batches, which a separate process makes."""

    def __init__(self, options: argparse.Namespace, step: int) -> None:
        self._options = options
        self._step = step

    def __iter__(self) -> Iterator[Batch]:
        options = self._options
        mixer = Mixer(Utterances(options.folder), options.seed + self._step)
        chance = random.Random(options.seed + self._step)
        for step in range(self._step, options.steps):
            plan = EARLY if step < options.steps * CONSTANT_SHARE else LATE
            positions, size, _ = chance.choices(plan, weights=[often for _, _, often in plan])[0]
            yield mixer.batch(size, positions)


class Texts:
    """Returns the decoder's input and expected output for a batch."""

    def __init__(self, words: list[list[int]], sizes: net.Sizes, chance: random.Random) -> None:
        numbers = {token: number for number, token in enumerate(net.tokens(sizes))}
        end, start, previous, silence = (numbers[token] for token in (net.END_OF_TEXT, net.START, net.PREVIOUS, net.FIRST_TIMESTAMP))
        rows, self.starts = [], []
        for said in words:
            prompt = [previous, *(chance.randint(0, len(numbers)) for _ in range(chance.randint(1, 24)))] if chance.random() < 0.06 else []
            self.starts.append(len(prompt))
            rows.append([*prompt, start, *(said or [silence]), end])
        length = max(map(len, rows))
        self.said = torch.full((len(rows), length - 1), end)
        self.wanted = torch.full((len(rows), length - 1), -100)
        for index, (row, begin) in enumerate(zip(rows, self.starts)):
            self.said[index, : len(row) - 1] = torch.tensor(row[:-1])
            self.wanted[index, begin : len(row) - 1] = torch.tensor(row[begin + 1 :])


def text_loss(logits: Tensor, wanted: Tensor, sizes: net.Sizes) -> Tensor:
    """Counts every unused token with a logit of zero."""
    unused = torch.full_like(logits[..., :1], net.VOCABULARY - len(net.tokens(sizes))).log()
    return F.cross_entropy(torch.cat([logits, unused], dim=-1).flatten(0, 1), wanted.flatten(), ignore_index=-100)


def moment_loss(logits: Tensor, batch: Batch) -> Tensor:
    wanted = torch.zeros(logits.shape[:2], dtype=torch.long)
    for row, (words, places) in enumerate(zip(batch.words, batch.places)):
        for word, (start, end) in zip(words, places):
            wanted[row, start:end] = word + 1
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten())


def look_loss(looks: list[Tensor], batch: Batch, starts: list[int]) -> Tensor:
    """Trains the first head of the first layer to attend to the last word, and that of later layers to the next word."""
    count, _, length, positions = looks[0].shape
    next_word = torch.zeros(count, length + 1, positions, dtype=torch.bool)
    for row, (places, start) in enumerate(zip(batch.places, starts)):
        for index, (first, last) in enumerate(places):
            next_word[row, start + index, first:last] = True
    total = torch.zeros(())
    for layer, look in enumerate(looks):
        wanted = next_word[:, :-1] if layer > 0 else next_word[:, :-1].roll(1, dims=1)
        shares = (look[:, 0].exp() * wanted).sum(-1)[wanted.any(-1)]
        total = total - shares.clamp_min(1e-6).log().mean()
    return total / len(looks)


@torch.no_grad()
def transcribed(model: net.Network, mels: Tensor) -> list[list[int]]:
    """Transcribes a batch of sounds with greedy decoding."""
    numbers = {token: number for number, token in enumerate(net.tokens(model.sizes))}
    source = model.encode(mels)
    said = torch.full((len(mels), 1), numbers[net.START])
    for _ in range(30):
        logits = model.decode(said, source)[0][:, -1]
        said = torch.cat([said, logits.argmax(-1, keepdim=True)], dim=1)
        if (said == numbers[net.END_OF_TEXT]).any(dim=1).all():
            break
    texts = []
    for row in said[:, 1:].tolist():
        row = row[: row.index(numbers[net.END_OF_TEXT])] if numbers[net.END_OF_TEXT] in row else row
        texts.append([number for number in row if number < model.sizes.words])
    return texts


def faults(said: list[int], heard: list[int]) -> int:
    """Counts the words to insert, delete or change."""
    row = list(range(len(heard) + 1))
    for index, word in enumerate(said, 1):
        before, row[0] = row[0], index
        for place, other in enumerate(heard, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != other))
    return row[-1]


def accuracy(model: net.Network, held_out: Mixer, batches: int) -> float:
    wrong = count = 0
    for index in range(batches):
        batch = held_out.batch(24, 256 if index % 2 == 0 else 384)
        for said, heard in zip(batch.words, transcribed(model, batch.mels)):
            wrong += faults(said, heard)
            count += len(said)
    return 1 - wrong / count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--steps", type=int, default=6_400)
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(options.seed)
    sizes = net.Sizes(words=len(WORDS))
    model = net.Network(sizes)
    averaged = net.Network(sizes)
    averaged.load_state_dict(model.state_dict())
    learner = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    step = 0
    if options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        model.load_state_dict(saved["model"])
        averaged.load_state_dict(saved["averaged"])
        learner.load_state_dict(saved["learner"])
        step = saved["step"]
    print(sum(parameter.numel() for parameter in model.parameters()), "parameters, from step", step, flush=True)
    chance = random.Random(options.seed + step)
    batches = iter(DataLoader(Batches(options, step), batch_size=None, num_workers=1, prefetch_factor=4))
    encode = torch.compile(model.encode, dynamic=False)
    losses, began, spent = [], time.time(), time.process_time()
    while step < options.steps:
        for group in learner.param_groups:
            group["lr"] = rate_at(step, options.steps)
        batch = next(batches)
        texts = Texts(batch.words, sizes, chance)
        source = encode(batch.mels)
        logits, looks = model.decode(texts.said, source)
        parts = (text_loss(logits, texts.wanted, sizes), moment_loss(model.moment(source), batch), look_loss(looks, batch, texts.starts))
        loss = parts[0] + MOMENT_WEIGHT * parts[1] + LOOK_WEIGHT * parts[2]
        learner.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        learner.step()
        step += 1
        with torch.no_grad():
            share = min(AVERAGED, (step + 1) / (step + 10))
            torch._foreach_lerp_(list(averaged.parameters()), list(model.parameters()), 1 - share)
        losses.append([part.item() for part in parts])
        if step % 50 == 0:
            means = " ".join(f"{sum(column) / len(losses):.3f}" for column in zip(*losses))
            print(f"{step} loss {means} {(time.time() - began) / len(losses):.3f} s, cpu {(time.process_time() - spent) / len(losses):.3f}", flush=True)
            losses, began, spent = [], time.time(), time.process_time()
        if step % CHECKPOINT_STEPS == 0 or step == options.steps:
            part = options.checkpoint.with_suffix(".part")
            torch.save({"model": model.state_dict(), "averaged": averaged.state_dict(), "learner": learner.state_dict(), "step": step}, part)
            part.rename(options.checkpoint)
            if options.held_out is not None:
                print(f"{step} held out: {accuracy(averaged, Mixer(Utterances(options.held_out), 5), 2):.4f} of the words are right", flush=True)
            began, spent = time.time(), time.process_time()


if __name__ == "__main__":
    main()
