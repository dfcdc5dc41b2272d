"""A minimal Whisper architecture, computed in the same way as whisper.cpp does."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mel import BINS

# Ids of the special tokens in an English vocabulary. They are constants in the engine.
VOCABULARY = 51_864
END_OF_TEXT = 50_256
START = 50_257
PREVIOUS = 50_360
FIRST_TIMESTAMP = 50_363
# Tokens 0 to 255 are single bytes. The words follow.
FIRST_WORD = 256
# Initial attention of the encoder heads: offsets in positions.
WAY = 12


@dataclass
class Sizes:
    words: int
    state: int = 96
    heads: int = 4
    encoder_layers: int = 3
    decoder_layers: int = 3  # whisper.cpp treats a model with two layers as distilled, which differs
    audio_positions: int = 384
    text_positions: int = 96


class Attention(nn.Module):
    def __init__(self, state: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(state, state)
        self.key = nn.Linear(state, state, bias=False)
        self.value = nn.Linear(state, state)
        self.out = nn.Linear(state, state)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Returns the result and, with a mask or another source, the logarithm of the attention: [batch, heads, x, source]."""
        query, key, value = (self._split(part) for part in (self.query(x), self.key(source), self.value(source)))
        if x is source and mask is None:
            return self.out(self._joined(F.scaled_dot_product_attention(query, key, value))), None
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        shares = F.log_softmax(scores if mask is None else scores + mask, dim=-1)
        return self.out(self._joined(shares.exp() @ value)), shares

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _joined(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(2)


class Block(nn.Module):
    def __init__(self, sizes: Sizes, has_source: bool) -> None:
        super().__init__()
        state = sizes.state
        self.attn_ln = nn.LayerNorm(state)
        self.attn = Attention(state, sizes.heads)
        if has_source:
            self.cross_attn_ln = nn.LayerNorm(state)
            self.cross_attn = Attention(state, sizes.heads)
        self.mlp_ln = nn.LayerNorm(state)
        self.mlp = nn.Sequential(nn.Linear(state, 4 * state), nn.GELU(approximate="tanh"), nn.Linear(4 * state, state))

    def forward(self, x: Tensor, source: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        normal = self.attn_ln(x)
        x = x + self.attn(normal, normal, mask)[0]
        shares = None
        if source is not None:
            found, shares = self.cross_attn(self.cross_attn_ln(x), source)
            x = x + found
        return x + self.mlp(self.mlp_ln(x)), shares


class Network(nn.Module):
    """A token has an id in the file's vocabulary, where nearly all rows stay zero, and here an index among the used tokens (see `tokens`)."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        state = sizes.state
        self.conv1 = nn.Conv1d(BINS, state, 3, padding=1)
        self.conv2 = nn.Conv1d(state, state, 3, stride=2, padding=1)
        self.register_buffer("audio_positions", sinusoids(sizes.audio_positions, state))
        self.encoder = nn.ModuleList(Block(sizes, has_source=False) for _ in range(sizes.encoder_layers))
        self.ln_post = nn.LayerNorm(state)
        self.token_embedding = nn.Parameter(torch.randn(len(tokens(sizes)), state) * 0.05)
        self.text_positions = nn.Parameter(torch.randn(sizes.text_positions, state) * 0.02)
        self.decoder = nn.ModuleList(Block(sizes, has_source=True) for _ in range(sizes.decoder_layers))
        self.decoder_ln = nn.LayerNorm(state)
        # Used only in training and not exported: predicts the word at each position of the encoder.
        self.moment = nn.Linear(state, sizes.words + 1)
        self._look_around()

    def encode(self, mels: Tensor) -> Tensor:
        """Encodes [batch, frames, BINS], with two frames per position."""
        x = F.gelu(self.conv1(mels.transpose(1, 2)), approximate="tanh")
        x = F.gelu(self.conv2(x), approximate="tanh").transpose(1, 2)
        x = x + self.audio_positions[: x.shape[1]]
        for block in self.encoder:
            x, _ = block(x)
        return self.ln_post(x)

    def decode(self, said: Tensor, source: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Returns the logits after each token and the attention of each layer. The index after the last used token stands for all unused tokens."""
        length = said.shape[1]
        rows = torch.cat([self.token_embedding, torch.zeros(1, self.sizes.state)])
        x = rows[said] + self.text_positions[:length]
        mask = torch.full((length, length), -torch.inf).triu(1)
        looks = []
        for block in self.decoder:
            x, shares = block(x, source, mask)
            looks.append(shares)
        return self.decoder_ln(x) @ self.token_embedding.T, looks

    def _look_around(self) -> None:
        """Makes each encoder head start with attention to nearby positions, so that training need not find this out."""
        sizes = self.sizes
        size = sizes.state // sizes.heads
        ways = torch.linspace(-WAY, WAY, sizes.heads)
        half = sizes.state // 2
        with torch.no_grad():
            for layer, block in enumerate(self.encoder):
                query, key = torch.zeros(sizes.state, sizes.state), torch.zeros(sizes.state, sizes.state)
                for head in range(sizes.heads):
                    way = ways[head] / 2 ** layer
                    for place in range(size // 2):
                        wave = head + place * sizes.heads
                        angle = way * frequencies(sizes.state)[wave]
                        row = head * size + 2 * place
                        key[row, wave] = key[row + 1, half + wave] = 1
                        query[row, wave], query[row, half + wave] = math.cos(angle), math.sin(angle)
                        query[row + 1, wave], query[row + 1, half + wave] = -math.sin(angle), math.cos(angle)
                block.attn.query.weight.copy_(1.5 * query + 0.02 * torch.randn_like(query))
                block.attn.key.weight.copy_(1.5 * key + 0.02 * torch.randn_like(key))


def tokens(sizes: Sizes) -> list[int]:
    """Ids of the used tokens: the words, and the tokens that start and end a text."""
    return [*range(FIRST_WORD, FIRST_WORD + sizes.words), END_OF_TEXT, START, PREVIOUS, FIRST_TIMESTAMP]


def frequencies(state: int) -> Tensor:
    """Positional encoding. Its longest wave is shorter than Whisper's, because the longest sound is shorter too."""
    count = state // 2
    return torch.exp(-math.log(300) * torch.arange(count) / (count - 1))


def sinusoids(length: int, state: int) -> Tensor:
    angles = torch.arange(length)[:, None] * frequencies(state)[None, :]
    return torch.cat([angles.sin(), angles.cos()], dim=1)
