"""Measure the profiling overhead, the share of a run that is accounted for, and the accuracy of the
times.

For each program, blocks of plain and profiled steps alternate in one process. The output gives, as
ratios of the plain median: profiled steps, steps under the dispatch clock (the earlier method),
operations, and operations with the time between them. Then, for operations of 50 µs and more, it
compares the profiler's times with those of the dispatch clock, and with two readings of the clock
around each call of a program written by hand.

For JAX, whose operations are timed by XLA's profiler, it prints profiled steps, operations, and
operations with the time between them.

    python benchmarks/watching.py [--steps 20] [--rounds 3] [PROGRAM ...]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.metadata import version

import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.utils.checkpoint import checkpoint

from fasterroof import Roof
from fasterroof.machine import environment
from fasterroof.roofline.join import join_run
from fasterroof.roofline.run import joined_run
from fasterroof.roofline.workloads.jax_workload import JaxWorkload
from fasterroof.timing.clock import no_gc
from fasterroof.timing.dispatch_clock import DispatchClock
from fasterroof.timing.steps import Watch
from fasterroof.work.program import Program

CPU = torch.device("cpu")
IMAGE = torch.randn(1, 3, 224, 224)


def vision(name: str, mode: Callable = torch.no_grad) -> Callable:
    model = getattr(torchvision.models, name)().eval()

    def step():
        with mode():
            model(IMAGE)

    return step


def autocast():
    return torch.autocast("cpu", torch.bfloat16)


def vit_training() -> Callable:
    model = torchvision.models.vit_b_16()
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        F.cross_entropy(model(IMAGE), torch.tensor([1])).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def bert() -> Callable:
    from transformers import BertConfig, BertModel

    model, ids = BertModel(BertConfig(num_hidden_layers=3)).eval(), torch.randint(0, 1000, (1, 128))

    def step():
        with torch.no_grad():
            model(ids)

    return step


def gpt2() -> Callable:
    from transformers import GPT2Config, GPT2LMHeadModel

    model, ids = GPT2LMHeadModel(GPT2Config()).eval(), torch.randint(0, 1000, (1, 128))
    with torch.no_grad():
        cache = model(ids, use_cache=True).past_key_values

    def step():
        with torch.no_grad():
            model(ids[:, :1], past_key_values=cache, use_cache=True)
        cache.crop(-1)  # the next step decodes the same token

    return step


def transformer(**how) -> Callable:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 2)
    optimizer, words = torch.optim.AdamW(model.parameters(), **how), torch.randn(8, 64, 128)

    def step():
        model(words).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def checkpointed(reentrant: bool) -> Callable:
    blocks = [nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(6)]
    rows = torch.randn(512, 256, requires_grad=True)

    def step():
        out = rows
        for block in blocks:
            out = checkpoint(block, out, use_reentrant=reentrant)
        out.sum().backward()
        rows.grad = None

    return step


def sixty() -> Callable:
    x = torch.randn(64)

    def step():
        with torch.no_grad():
            y = x
            for _ in range(60):
                y = y + x

    return step


PROGRAMS = {
    "mobilenet_v3_small": lambda: vision("mobilenet_v3_small"),
    "resnet18": lambda: vision("resnet18"),
    "resnet18 inference": lambda: vision("resnet18", torch.inference_mode),
    "resnet18 autocast": lambda: vision("resnet18", lambda: both(torch.no_grad(), autocast())),
    "vit_b_16": lambda: vision("vit_b_16"),
    "vit_b_16 training": vit_training,
    "BERT of 3 layers": bert,
    "GPT-2 with cache": gpt2,
    "transformer AdamW": transformer,
    "transformer AdamW foreach": lambda: transformer(foreach=True),
    "transformer AdamW fused": lambda: transformer(fused=True),
    "checkpoints": lambda: checkpointed(False),
    "reentrant checkpoints": lambda: checkpointed(True),
    "sixty tiny": sixty,
}


def jax_mlp() -> tuple:
    import jax
    import jax.numpy as jnp

    sizes = (784, 1024, 1024, 10)
    keys = jax.random.split(jax.random.key(0), 3)
    weights = [
        jax.random.normal(k, shape) * 0.02
        for k, *shape in zip(keys, sizes, sizes[1:], strict=False)
    ]

    def mlp(weights, x):
        for w in weights[:-1]:
            x = jnp.maximum(x @ w, 0)
        return x @ weights[-1]

    return mlp, weights, jnp.ones((256, 784))


def jax_vmap() -> tuple:
    import jax
    import jax.numpy as jnp

    def energy(w, x):
        return jnp.tanh(jnp.tanh(x @ w) @ w).sum()

    x = jax.random.normal(jax.random.key(0), (16, 64, 512))
    return jax.vmap(jax.grad(energy), in_axes=(None, 0)), jnp.ones((512, 512)) * 0.01, x


def jax_scan() -> tuple:
    "Return the gradient of a transformer with scanned layers."
    import jax
    import jax.numpy as jnp

    layers, d, heads = 6, 128, 4
    shapes = {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
    keys = jax.random.split(jax.random.key(0), len(shapes))
    params = {
        name: jax.random.normal(key, (layers, *shape)) * 0.02
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)

    def layer(x, p):
        split = (*x.shape[:2], heads, d // heads)
        q, k, v = (y.reshape(split) for y in jnp.split(norm(x) @ p["qkv"], 3, axis=-1))
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 32**0.5)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape) @ p["out"]
        return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"], None

    def loss(params, x):
        return jnp.square(jax.lax.scan(layer, x, params)[0]).mean()

    return jax.grad(loss), params, jax.random.normal(jax.random.key(1), (8, 64, d))


def jax_cnn() -> tuple:
    "Return the gradient of a flax CNN with stateful batch norms."
    import jax
    import optax
    from flax import linen

    class CNN(linen.Module):
        @linen.compact
        def __call__(self, x):
            for channels in (32, 64):
                x = linen.Conv(channels, (3, 3))(x)
                x = linen.relu(linen.BatchNorm(use_running_average=False)(x))
                x = linen.max_pool(x, (2, 2), (2, 2))
            return linen.Dense(10)(x.reshape(x.shape[0], -1))

    model, x = CNN(), jax.random.normal(jax.random.key(0), (16, 32, 32, 3))
    labels, state = jax.numpy.arange(16) % 10, model.init(jax.random.key(1), x)

    def loss(params, stats, x):
        held = {"params": params, "batch_stats": stats}
        out, stats = model.apply(held, x, mutable=["batch_stats"])
        losses = optax.softmax_cross_entropy_with_integer_labels(out, labels)
        return losses.mean(), stats

    return jax.value_and_grad(loss, has_aux=True), state["params"], state["batch_stats"], x


def jax_step() -> tuple:
    "Return a training step of a flax transformer with optax AdamW and donated arguments."
    import jax
    import optax
    from flax import linen

    class Block(linen.Module):
        @linen.compact
        def __call__(self, x):
            y = linen.LayerNorm()(x)
            x = x + linen.MultiHeadDotProductAttention(num_heads=4)(y, y)
            y = linen.gelu(linen.Dense(512)(linen.LayerNorm()(x)))
            return x + linen.Dense(128)(y)

    class LM(linen.Module):
        @linen.compact
        def __call__(self, words):
            x = linen.Embed(512, 128)(words)
            for i in range(2):
                x = Block(name=f"block{i}")(x)
            return linen.Dense(512)(linen.LayerNorm()(x))

    model, words = LM(), jax.random.randint(jax.random.key(0), (8, 64), 0, 512)
    params, optimizer = model.init(jax.random.key(1), words), optax.adamw(1e-3)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state, words):
        def loss(params):
            out = model.apply(params, words[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(out, words[:, 1:]).mean()

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, params, optimizer.init(params), words


def jax_shard_map() -> tuple:
    "Return a function that splits rows over two devices and adds their results."
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, PartitionSpec

    rows, everywhere = PartitionSpec("d"), PartitionSpec()

    def part(w, x):
        return jax.lax.psum(jnp.tanh(jnp.tanh(x @ w) @ w).sum(), "d")

    divided = jax.shard_map(
        part, mesh=Mesh(jax.devices(), ("d",)), in_specs=(everywhere, rows), out_specs=everywhere
    )
    return divided, jnp.ones((1024, 1024)) * 0.01, jnp.ones((512, 1024))


JAX_PROGRAMS = {  # a function and its arguments
    "JAX MLP": jax_mlp,
    "JAX vmap of a gradient": jax_vmap,
    "JAX scanned transformer gradient": jax_scan,
    "flax CNN gradient": jax_cnn,
    "flax transformer optax step": jax_step,
    "JAX shard_map": jax_shard_map,
}
TWO_DEVICES = "--xla_force_host_platform_device_count=2"


def jax_row(name: str, steps: int) -> tuple[str, ...]:
    "Run one round of a JAX program: plain and profiled steps in turn."
    fn, *args = JAX_PROGRAMS[name]()
    workload, roof = JaxWorkload(fn, tuple(args), name=name), Roof(1e12, 1e11)
    with workload.prepared(roof):
        workload.warm_up(3)
        taken = workload.take(steps)
    plain, facts = taken.plain.median, {"model": name, "sample": "", "device": "cpu"}
    run = joined_run(taken, roof, taken.plain, **facts)
    spans, between = (sum(p.time_s for p in points) for points in (run.points, run.host))
    uncounted = [p.name for p in run.points if p.flops is None]
    print(name, *taken.notes, *workload.notes(), *uncounted, sep=": ", file=sys.stderr, flush=True)
    return (
        name,
        str(len(taken.ops)),
        f"{plain * 1e3:.2f}",
        f"{len(taken.steps)}/{steps}",
        f"{taken.watched.median / plain:.2f}",
        f"{spans / plain:.2f}",
        f"{(spans + between) / plain:.2f}",
    )


def jax_row_apart(name: str, steps: int) -> tuple[str, ...]:
    "Run one round in a new process, on as many devices as the program needs."
    code = f"import watching as w; import json; print(json.dumps(w.jax_row({name!r}, {steps})))"
    flags = {"XLA_FLAGS": TWO_DEVICES} if name == "JAX shard_map" else {}
    out = subprocess.run(
        [sys.executable, "-c", code],
        cwd=os.path.dirname(os.path.abspath(__file__)),
        env={**os.environ, "JAX_PLATFORMS": "cpu", **flags},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return tuple(json.loads(out.stdout.splitlines()[-1]))


@contextmanager
def both(first, second) -> Iterator[None]:
    with first, second:
        yield


def clocked(watch: Watch, steps: int) -> tuple[float, np.ndarray]:
    """Return the ratio of steps under the dispatch clock to plain steps, in turn, and the median
    time of each operation in s."""
    plain, slow, times = [], [], []
    for _ in range(steps):
        plain.append(watch.plain())
        clock = DispatchClock()
        slow.append(watch.watched(clock)[1])
        times.append([(end - start) * 1e-9 for start, end in clock.ticks])
    return statistics.median(slow) / statistics.median(plain), np.median(times, axis=0)


def by_hand(steps: int) -> dict[str, tuple[float, float]]:
    """Time operations of 50 µs and more, called one by one, by the clock around each call and by
    the profiler."""
    x, image, words = torch.randn(512, 512), torch.randn(8, 16, 56, 56), torch.randn(4, 8, 128, 64)
    kernel, big = torch.randn(16, 16, 3, 3), torch.randn(4096, 1024)
    rows, columns = words.flatten(0, 1), words.flatten(0, 1).mT
    calls = {
        "aten.mm": lambda: torch.mm(x, x),
        "aten.convolution": lambda: torch.convolution(
            image, kernel, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1
        ),
        "aten._softmax": lambda: torch.softmax(big, -1),
        "aten.gelu": lambda: F.gelu(big),
        "aten.cumsum": lambda: torch.cumsum(big, 0),
        "aten.bmm": lambda: torch.bmm(rows, columns),
    }

    def program():
        for call in calls.values():  # free each output before the next call, as in the loop by hand
            call()

    with (
        torch.no_grad(),
        Watch(Program(program, as_is=True), CPU) as watch,
    ):
        for _ in range(3):
            watch.plain()
        hand: dict[str, list[float]] = {name: [] for name in calls}
        with no_gc():
            for _ in range(steps):
                for name, call in calls.items():
                    start = time.perf_counter()
                    call()
                    hand[name].append(time.perf_counter() - start)
        taken = watch.take(steps)
    times = {
        op.name: statistics.median(s[i].duration for s in taken.steps)
        for i, op in enumerate(taken.ops)
        if op.name in calls
    }
    return {name: (statistics.median(hand[name]), times[name]) for name in calls}


def main() -> None:
    names = [*PROGRAMS, *JAX_PROGRAMS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "programs", nargs="*", default=names, metavar="PROGRAM", help=", ".join(names)
    )
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")

    table = Table(
        "program",
        "operations",
        "plain, ms",
        "matched",
        "profiled / plain",
        "dispatch clock / plain",
        "operations / plain",
        "with the time between / plain",
        "≥ 50 µs: profiler / clock [IQR]",
    )
    for name in filter(PROGRAMS.__contains__, args.programs):
        torch.manual_seed(0)
        step = PROGRAMS[name]()
        for _ in range(args.rounds):
            with Watch(Program(step, as_is=True), CPU) as watch, nullcontext():
                for _ in range(3):
                    watch.plain()
                taken = watch.take(args.steps)
                slow, ticks = clocked(watch, min(args.steps, 10))
            plain = taken.plain.median
            joined = join_run(taken.ops, taken.steps, Roof(1e12, 1e11), plain, taken.windows)
            spans, between = (
                sum(p.time_s for p in points) for points in (joined.points, joined.host)
            )
            times = np.zeros((len(taken.ops), len(taken.steps)))
            for k, spans_of in enumerate(taken.steps):
                for s in spans_of:
                    times[s.ops[0], k] = s.duration
            medians = np.median(times, axis=1)
            alike = len(ticks) == len(medians)
            ratios = medians[ticks > 50e-6] / ticks[ticks > 50e-6] if alike else []
            beside = (
                "{1:.2f} [{0:.2f}, {2:.2f}]".format(*np.quantile(ratios, [0.25, 0.5, 0.75]))
                if len(ratios)
                else "–"
            )
            table.add_row(
                name,
                str(len(taken.ops)),
                f"{plain * 1e3:.2f}",
                f"{len(taken.steps)}/{args.steps}",
                f"{taken.watched.median / plain:.2f}",
                f"{slow:.2f}",
                f"{spans / plain:.2f}",
                f"{(spans + between) / plain:.2f}",
                beside,
            )
            print(name, *taken.notes, sep=": ", flush=True)
    by_xla = Table(
        "program",
        "operations",
        "plain, ms",
        "matched",
        "profiled / plain",
        "operations / plain",
        "with the time between / plain",
    )
    for name in filter(JAX_PROGRAMS.__contains__, args.programs):
        for _ in range(args.rounds):
            by_xla.add_row(*jax_row_apart(name, args.steps))
    hand = Table("operation", "clock around the call, µs", "profiler / clock")
    for name, (clock_s, profiled_s) in by_hand(50).items() if table.row_count else ():
        hand.add_row(name, f"{clock_s * 1e6:.0f}", f"{profiled_s / clock_s:.2f}")
    env = environment()
    console = Console(width=160)
    console.print(
        f"{env['cpu']['name']}, {env['cpu']['threads']} threads, torch {torch.__version__},"
        f" JAX {version('jax')}, {args.steps} steps"
    )
    for shown in (table, hand, by_xla):
        if shown.row_count:
            console.print(shown)


if __name__ == "__main__":
    main()
