"""Measure the time of counting, beside a plain forward and torch's own counter.

python benchmarks/counting.py [--rounds N]

Every round runs each of them once, in random order, so that drift affects all equally. A ratio is
the median over the rounds of two times of the same round. The decoder has 405 billion parameters
and is built on meta. So is Mamba 2.8B, whose loop over time steps has tens of thousands of small
operations.
"""

import argparse
import random
import resource
import statistics
import time
from functools import partial

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from fasterroof import trace


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, groups: int):
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, width // heads
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, groups * self.head, bias=False) for _ in range(2))

    def forward(self, x, cos, sin):
        n, length, _ = x.shape
        q, k, v = (
            f(x).view(n, length, -1, self.head).transpose(1, 2) for f in (self.q, self.k, self.v)
        )
        q, k = (
            t * cos + torch.cat((-t[..., self.head // 2 :], t[..., : self.head // 2]), -1) * sin
            for t in (q, k)
        )
        k, v = (t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(out.transpose(1, 2).reshape(n, length, -1))


class Layer(nn.Module):
    def __init__(self, width: int, hidden: int, heads: int, groups: int):
        super().__init__()
        self.attention, self.norm1, self.norm2 = (
            Attention(width, heads, groups),
            nn.RMSNorm(width),
            nn.RMSNorm(width),
        )
        self.gate, self.up = (
            nn.Linear(width, hidden, bias=False),
            nn.Linear(width, hidden, bias=False),
        )
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    "A decoder with the sizes of Llama 3.1 405B."

    def __init__(self, layers=126, width=16_384, hidden=53_248, heads=128, groups=8, words=128_256):
        super().__init__()
        self.embed, self.norm = nn.Embedding(words, width), nn.RMSNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.layers = nn.ModuleList(Layer(width, hidden, heads, groups) for _ in range(layers))
        self.head_width = width // heads

    def forward(self, ids):
        at = torch.arange(ids.shape[1], device=ids.device)[:, None] * torch.ones(
            self.head_width, device=ids.device
        )
        x = self.embed(ids)
        cos, sin = at.cos().to(x.dtype), at.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.norm(x))


class Mixer(nn.Module):
    "A layer of Mamba as a loop over time steps, as it runs without its CUDA kernels."

    def __init__(self, width: int, states: int, rank: int):
        super().__init__()
        self.inner, self.states, self.rank = 2 * width, states, rank
        self.norm = nn.RMSNorm(width)
        self.enter = nn.Linear(width, 2 * self.inner, bias=False)
        self.conv = nn.Conv1d(self.inner, self.inner, 4, padding=3, groups=self.inner)
        self.select = nn.Linear(self.inner, rank + 2 * states, bias=False)
        self.step = nn.Linear(rank, self.inner)
        self.log_a = nn.Parameter(torch.empty(self.inner, states))
        self.skip = nn.Parameter(torch.empty(self.inner))
        self.leave = nn.Linear(self.inner, width, bias=False)

    def forward(self, x):
        y, gate = self.enter(self.norm(x)).transpose(1, 2).chunk(2, dim=1)
        y = F.silu(self.conv(y)[..., : x.shape[1]])
        step, b, c = self.select(y.transpose(1, 2)).split(
            [self.rank, self.states, self.states], dim=-1
        )
        step = F.softplus(self.step(step)).transpose(1, 2)
        decay = torch.exp(-torch.exp(self.log_a)[None, :, None, :] * step[..., None])
        entering = step[..., None] * b[:, None] * y[..., None]
        state, out = torch.zeros_like(entering[:, :, 0]), []
        for i in range(x.shape[1]):
            state = decay[:, :, i] * state + entering[:, :, i]
            out.append(torch.matmul(state, c[:, i, :, None])[..., 0])
        y = (torch.stack(out, dim=-1) + y * self.skip[None, :, None]) * F.silu(gate)
        return x + self.leave(y.transpose(1, 2))


class Mamba(nn.Module):
    "A model with the sizes of Mamba 2.8B."

    def __init__(self, layers=64, width=2560, words=50_280):
        super().__init__()
        self.embed, self.norm = nn.Embedding(words, width), nn.RMSNorm(width)
        self.layers = nn.ModuleList(Mixer(width, 16, width // 16) for _ in range(layers))

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.embed.weight)


def steps(rounds: int) -> None:
    "Print the time to count many small operations: the first trace, and the median of later ones."
    with torch.device("meta"):
        model = Mamba()
    tokens, took = torch.zeros(1, 64, dtype=torch.long, device="meta"), []
    with torch.no_grad():
        for _ in range(rounds + 1):
            start = time.perf_counter()
            n = len(trace(model, tokens).ops)
            took.append(time.perf_counter() - start)
    later = statistics.median(took[1:])
    size = sum(p.numel() for p in model.parameters()) / 1e9
    print(
        f"\nMamba, {size:.1f} billion parameters, 64 tokens on meta, {n:,} operations: first trace"
        f" {took[0]:.1f} s, later ones {later:.1f} s, {1e6 * later / n:.0f} µs per operation"
    )


def seconds(fn) -> float:
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def counter(model, sample):
    with FlopCounterMode(display=False) as mode:
        model(sample)
    return mode.get_total_flops()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--rounds", type=int, default=15, help="number of rounds for each model (default: 15)"
    )
    rounds = parser.parse_args().rounds
    with torch.device("meta"):
        decoder = Decoder().to(torch.bfloat16)
    tokens, image = torch.zeros(1, 512, dtype=torch.long, device="meta"), torch.rand(1, 3, 224, 224)
    with torch.no_grad():
        trace(decoder, tokens)
    # before other models are loaded
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    from torchvision.models import resnet18, vit_b_16

    with FakeTensorMode():
        fake = resnet18().eval(), torch.empty(1, 3, 224, 224)
    cases = [
        ("resnet18", resnet18().eval(), image),
        ("resnet18 on fake tensors", *fake),
        ("vit_b_16", vit_b_16().eval(), image),
        ("decoder 405B on meta, 512 tokens", decoder, tokens),
    ]
    print(
        f"{sum(p.numel() for p in decoder.parameters()) / 1e9:.1f} billion parameters; torch"
        f" {torch.__version__}, {torch.get_num_threads()} threads, no_grad, {rounds} rounds\n"
    )
    print(
        "| model | plain, ms | counter, ms | trace, ms | trace(real), ms | trace / plain | trace /"
        " counter | trace(real) / counter | GFLOP ours | counter's"
        " |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name, model, x in cases:
        ways = {
            "plain": partial(model, x),
            "counter": partial(counter, model, x),
            "trace": partial(trace, model, x),
            "real": partial(trace, model, x, real=True),
        }
        took = {way: [] for way in ways}
        with torch.no_grad():
            for i in range(rounds + 2):
                for way in random.sample(list(ways), len(ways)):
                    t = seconds(ways[way])
                    if i > 1:
                        took[way].append(t)  # two rounds to warm up
            ours, theirs = trace(model, x).contraction_flops / 1e9, counter(model, x) / 1e9

        def ratio(a, b, took=took):
            return statistics.median(p / q for p, q in zip(took[a], took[b], strict=True))

        times = " | ".join(f"{1e3 * statistics.median(took[way]):.1f}" for way in ways)
        print(
            f"| {name} | {times} | {ratio('trace', 'plain'):.2f} | {ratio('trace', 'counter'):.2f}"
            f" | {ratio('real', 'counter'):.2f} | {ours:,.2f} | {theirs:,.2f} |"
        )
    print(f"\nPeak memory of the process, torch included, with the decoder traced: {most:.2f} GiB")
    steps(min(rounds, 3))


if __name__ == "__main__":
    main()
