"""Whether a program is what it was after fasterroof has run it: programs made by hypothesis, each
in a subprocess.

A program is a module, or a function around one, whose forward changes containers, attributes,
hooks, settings and storages, and may raise anywhere. Two copies are built from one description. One
runs plainly. The other first goes through trace, profile or watch. Afterwards both must return the
same bits, three calls in a row.

    python benchmarks/unbroken.py --programs 500
    python benchmarks/unbroken.py --programs 30 --undo all     # each fix taken back in turn: is
    that found?
"""

import argparse
import array
import collections
import contextlib
import functools
import gc
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FAILS = ("trace", "profile", "watch")  # calls that are made to fail on the way
CHECKS = (
    "trace",
    "real",
    "backward",
    "profile",
    "train",
    "step",
    "watch",
    *(f"{name} fails" for name in FAILS),
)
CONTAINERS = (
    "dict",
    "OrderedDict",
    "defaultdict",
    "Counter",
    "UserDict",
    "ChainMap",
    "dict subclass",
    "OrderedDict subclass",
    "list",
    "UserList",
    "list subclass",
    "deque",
    "deque subclass",
    "queue",
    "set",
    "set subclass",
    "bytearray",
    "array",
    "numpy",
    "namespace",
    "dataclass",
    "slots",
    "nested",
)
CHANGES = ("add", "add", "replace", "remove", "clear", "reorder")
HOOKS = ("forward", "pre", "backward", "parameter", "global", "state_dict")
SETTINGS = (
    "dtype",
    "grad",
    "deterministic",
    "threads",
    "mkldnn",
    "anomaly",
    "autocast",
    "random",
    "numpy",
    "torch",
)
STORAGES = (
    "gather",
    "gather and keep",
    "free",
    "fill",
    "share",
    "replace",
    "write parameter",
    "write buffer",
    "write argument",
    "half",
)
STATES = (
    "attribute",
    "class",
    "global",
    "nonlocal",
    "cache",
    "buffer",
    "module",
    "mode",
    "grad",
    "requires_grad",
    "generator",
    "tensor attribute",
    "delete",
    "thread",
    "executor",
)
MODULES = ("norm", "scripted", "frozen", "optimized", "sharded", "lstm", "encoder")
WHERE = ("attribute", "global", "closure", "argument")


# --- programs
# -------------------------------------------------------------------------------------------------


class Planned(Exception):
    "Raised by a program where its description says so."


OTHERS = [
    [kind, how]
    for kind, ways in (
        ("hook", HOOKS),
        ("setting", SETTINGS),
        ("storage", STORAGES),
        ("state", STATES),
        ("module", MODULES),
    )
    for how in ways
]


def descriptions():
    "A strategy: programs and what is done with them."
    from hypothesis import strategies as st

    one = st.sampled_from
    held = st.tuples(st.just("container"), one(CONTAINERS), one(CHANGES), one(WHERE)).map(list)
    some_held = st.lists(held, min_size=3, max_size=7, unique_by=lambda action: action[1])
    others = st.lists(one(OTHERS), min_size=3, max_size=7, unique_by=tuple)
    return st.fixed_dictionaries(
        {
            "seed": st.integers(0, 99),
            "function": st.booleans(),
            "actions": (
                st.tuples(some_held, others).flatmap(
                    lambda parts: st.permutations(parts[0] + parts[1])
                )
            ),
            "fails_at": st.integers(0, 15),
            "checks": st.lists(one(CHECKS), min_size=4, max_size=5, unique=True),
        }
    )


def turns(n: int) -> list:
    "Actions of program `n` whatever hypothesis draws: in thirty programs each kind has its turn."
    others = [OTHERS[(2 * n + k) % len(OTHERS)] for k in (0, 1)]
    return [*others, ["container", CONTAINERS[n % len(CONTAINERS)], "replace", WHERE[n % 2]]]


GLOBALS: dict = {}  # containers that the function `forward_of` names
COUNT = 0


class Switch:
    at = -1  # the action before which a program raises; -1: none


class Wary(dict):
    "Stores nothing from outside, and reads with side effects."

    def update(self, *args, **kwargs):
        raise TypeError("no update")

    def clear(self):
        raise TypeError("no clear")

    def values(self):
        raise TypeError("no values")

    def items(self):
        raise TypeError("no items")

    def __setitem__(self, key, value):
        super().__setitem__(key, value)


class Mirror(collections.OrderedDict):
    "Keeps a second copy, as outputs of models do."

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        object.__setattr__(self, f"key_{key}", value)

    def update(self, *args, **kwargs):
        raise TypeError("no update")


class Rows(list):
    def extend(self, values):
        raise TypeError("no extend")

    def clear(self):
        raise TypeError("no clear")


class Line(collections.deque):
    def extend(self, values):
        raise TypeError("no extend")


class Bag(set):
    def update(self, values):
        raise TypeError("no update")


@dataclass
class Record:
    a: object = 1
    b: object = 2


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1, 2


def container(kind: str):
    "A fresh container with two items."
    two = {"a": 1, "b": 2}
    made = {
        "dict": lambda: dict(two),
        "OrderedDict": lambda: collections.OrderedDict(two),
        "defaultdict": lambda: collections.defaultdict(list, two),
        "Counter": lambda: collections.Counter(two),
        "UserDict": lambda: collections.UserDict(two),
        "ChainMap": lambda: collections.ChainMap({"a": 1}, {"b": 2}),
        "dict subclass": lambda: Wary(two),
        "OrderedDict subclass": lambda: Mirror(two),
        "list": lambda: [1, 2],
        "UserList": lambda: collections.UserList([1, 2]),
        "list subclass": lambda: Rows([1, 2]),
        "deque": lambda: collections.deque([1, 2], maxlen=3),
        "deque subclass": lambda: Line([1, 2]),
        "queue": queue.Queue,
        "set": lambda: {1, 2},
        "set subclass": lambda: Bag([1, 2]),
        "bytearray": lambda: bytearray(b"ab"),
        "array": lambda: array.array("d", [1, 2]),
        "namespace": lambda: types.SimpleNamespace(**two),
        "dataclass": Record,
        "slots": Slots,
        "nested": lambda: collections.OrderedDict(a=[{"b": (1, [2])}], b={3}),
    }
    if kind == "numpy":
        import numpy as np

        return np.ones(2)
    return made[kind]()


def change(c, how: str, value, number: int) -> None:
    "Change a container by its own methods, whatever it is."
    key = f"k{number}"
    if isinstance(c, queue.Queue):
        c.put(value)
    elif isinstance(c, collections.abc.MutableMapping):
        inner = c.get("a")
        if isinstance(inner, list) and inner and how in ("add", "clear"):
            inner[0]["b"][1].append(value)
        elif isinstance(c, collections.Counter):
            c[key] += 1
        elif how == "add":
            c[key] = value
        elif how == "replace":
            c["a"] = value
        elif how == "remove" and "b" in c:
            del c["b"]
        elif how == "clear" and not isinstance(c, Wary):
            c.clear()
        elif how == "reorder" and isinstance(c, collections.OrderedDict):
            c.move_to_end(next(iter(c)))
        else:
            c.setdefault(key, value)
    elif isinstance(c, (set, Bag)):
        c.discard(1) if how == "remove" else set.clear(c) if how == "clear" else c.add(number + 10)
    elif isinstance(c, (bytearray, array.array)) or type(c).__name__ == "ndarray":
        if how in ("add", "clear") and hasattr(c, "append"):
            c.append(3)
        else:
            c[0] = 7 + number
    elif isinstance(c, (list, collections.UserList, collections.deque)):
        if how == "remove" and len(c):
            c.pop()
        elif how == "replace" and len(c):
            c[0] = value
        elif how == "reorder":
            c.reverse()
        elif how == "clear":
            while len(c):
                c.pop()
        else:
            c.append(value)
    elif how == "remove" and hasattr(c, "b"):
        del c.b
    elif isinstance(c, Slots):
        c.a = value
    else:
        setattr(c, key if how == "add" else "a", value)


def fold(y, c):
    "Make `y` depend on everything that a container holds, and on its order."
    import torch

    if isinstance(c, torch.Tensor):
        return y + 0.001 * c.float().mean()
    if isinstance(c, (int, float)):
        return y * 1.01 + c
    if isinstance(c, str):
        return y + len(c)
    if isinstance(c, queue.Queue):
        c = list(c.queue)
    elif isinstance(c, collections.ChainMap):
        c = list(c.maps)
    elif isinstance(c, dict):
        base = collections.OrderedDict if isinstance(c, collections.OrderedDict) else dict
        c = [part for item in base.items(c) for part in item] + list(getattr(c, "__dict__", ()))
    elif isinstance(c, collections.UserDict):
        c = [part for item in c.data.items() for part in item]
    elif isinstance(c, Slots):
        c = [getattr(c, s, None) for s in Slots.__slots__]
    elif isinstance(c, (set, frozenset)):
        c = sorted(c)
    elif hasattr(c, "__dict__") and not isinstance(
        c, (list, collections.UserList, collections.deque)
    ):
        c = [part for item in vars(c).items() for part in item]
    elif type(c).__name__ == "ndarray":
        c = c.tolist()
    if c is None:
        return y - 1
    y = y + len(c)
    for part in c:
        y = fold(y, part)
    return y


def body_class():
    "The module, made here because torch is imported in the worker alone."
    import numpy as np
    import torch
    from torch import nn

    class Scriptable(nn.Module):
        n: int
        seen: list[torch.Tensor]

        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(4, 4)
            self.n, self.seen = 0, []
            self.register_buffer("last", torch.zeros(4))

        def forward(self, x: torch.Tensor):
            self.n += 1
            self.seen.append(x * 2)
            self.last = self.last + 1
            return self.lin(x) + self.last + self.n + len(self.seen) + self.seen[0].mean()

    def module(kind):
        if kind == "norm":
            return nn.BatchNorm1d(4)
        if kind == "lstm":
            return nn.LSTM(4, 4, batch_first=True)
        if kind == "encoder":
            return nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)
        if kind == "sharded":
            from torch.distributed import fsdp

            inner = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
            if not hasattr(fsdp, "fully_shard"):
                return inner  # before torch 2.6
            fully_shard = fsdp.fully_shard
            for part in inner:
                fully_shard(part)
            return fully_shard(inner)
        if kind == "scripted":
            return torch.jit.script(Scriptable())
        plain = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval())
        return (
            torch.jit.freeze(plain) if kind == "frozen" else torch.jit.optimize_for_inference(plain)
        )

    @functools.cache
    def table(n):
        return torch.arange(4.0)

    class Body(nn.Module):
        calls = 0

        def __init__(self, spec):
            super().__init__()
            torch.manual_seed(spec["seed"])
            self.spec = spec
            self.lin = nn.Linear(4, 4)
            self.register_buffer("b", torch.arange(4.0))
            self.register_buffer("gathered", torch.zeros(4), persistent=False)
            self.gathered.untyped_storage().resize_(0)
            self.view = self.b[1:3]
            self.extra, self.generator = 3, torch.Generator().manual_seed(1)
            self.held = {
                i: container(a[1])
                for i, a in enumerate(spec["actions"])
                if a[0] == "container" and a[3] == "attribute"
            }
            kinds = dict.fromkeys(a[1] for a in spec["actions"] if a[0] == "module")
            self.parts = nn.ModuleDict({k: module(k) for k in kinds})

        def settings(self):
            "A number that every setting changes."
            b = torch.backends
            return (
                torch.get_default_dtype().itemsize
                + torch.get_num_threads()
                + torch.is_grad_enabled()
                + b.mkldnn.enabled
                + 2 * torch.is_anomaly_enabled()
                + self.training
                + 3 * torch.are_deterministic_algorithms_enabled()
                + torch.is_autocast_enabled("cpu")
            )

        def forward(self, x, caches=None, closed=None):
            y = self.lin(x) * self.settings() + self.b
            for i, (kind, *how) in enumerate(self.spec["actions"]):
                if Switch.at == i:
                    raise Planned(f"action {i}")
                y = getattr(self, kind)(x, y, i, *how, caches, closed)
            for c in self.held.values():
                y = fold(y, c)
            return y + self.settings() + self.calls + self.extra + self.b.mean() + self.view.mean()

        def container(self, x, y, i, kind, how, where, caches, closed):
            if where == "argument" and caches is None:
                where = "attribute"
            store = {
                "attribute": self.held,
                "global": GLOBALS,
                "closure": closed,
                "argument": caches,
            }[where]
            c = (store if store is not None else self.held).setdefault(i, container(kind))
            y = fold(y, c)  # what earlier calls left there
            change(c, how, x.detach() * 2, i)
            return fold(y, c)

        def hook(self, x, y, i, how, *_):
            one = lambda m, args, *out: None if not out else out[0] + 1  # noqa: E731
            if how == "forward":
                self.lin.register_forward_hook(one)
            elif how == "pre":
                self.lin.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
            elif how == "backward" and torch.is_grad_enabled():
                self.lin.register_full_backward_hook(lambda *a: None)
            elif how == "parameter" and self.lin.weight.requires_grad:
                self.lin.weight.register_hook(lambda g: g * 2)
            elif how == "global":
                nn.modules.module.register_module_forward_hook(
                    lambda m, args, out: out + 1 if m is self.lin else None
                )
            elif how == "state_dict":
                self.register_state_dict_post_hook(lambda *a: None)
            return (
                y
                + len(self.lin._backward_hooks)
                + len(self._state_dict_hooks)
                + len(self.lin.weight._backward_hooks or ())
            )

        def setting(self, x, y, i, how, *_):
            if how == "dtype":
                torch.set_default_dtype(torch.float64)
            elif how == "grad":
                torch.set_grad_enabled(not torch.is_grad_enabled())
            elif how == "deterministic":
                torch.use_deterministic_algorithms(True, warn_only=True)
            elif how == "threads":
                torch.set_num_threads(2)
            elif how == "mkldnn":
                torch.backends.mkldnn.set_flags(False)
            elif how == "anomaly":
                torch.autograd.set_detect_anomaly(True, check_nan=False)
            elif how == "autocast":
                torch.set_autocast_enabled("cpu", not torch.is_autocast_enabled("cpu"))
            elif how == "random":
                return y + random.random()
            elif how == "numpy":
                return y + float(np.random.rand())
            else:
                return y + torch.rand_like(y)
            return y

        def storage(self, x, y, i, how, *_):
            if how.startswith("gather"):  # what sharded training does with the memory of a weight
                s = self.gathered.untyped_storage()
                y = y + s.nbytes()
                s.resize_(16)
                self.gathered.copy_(self.b)
                y = y + self.gathered
                if how == "gather":
                    s.resize_(0)
            elif how == "free":
                y = y + self.b
                self.b.untyped_storage().resize_(0)
                self.b.untyped_storage().resize_(16)
                self.b.copy_(x.detach()[0])
            elif how == "fill":
                self.b.untyped_storage().fill_(1)
            elif how == "share":
                self.view = self.b.view(2, 2)[0]
            elif how == "replace":
                self.b = self.b + 1
            elif how == "half" and not self.lin.weight.requires_grad:
                self.lin.to(torch.bfloat16).to(torch.float32)
            elif how == "write parameter":
                with torch.no_grad():
                    self.lin.bias.add_(1)
            elif how == "write buffer":
                self.b[1:3].mul_(2)
            elif how == "write argument":
                with torch.no_grad():
                    x.mul_(1.5)
            return y

        def state(self, x, y, i, how, _caches, closed):
            global COUNT
            if how == "attribute":
                self.last, self.extra = y.detach(), self.extra + 1
            elif how == "class":
                type(self).calls += 1
            elif how == "global":
                COUNT += 1
                return y + COUNT
            elif how == "nonlocal":
                return y + (closed["count"]() if closed else 0)
            elif how == "cache":
                return y + table(i)
            elif how == "buffer":
                self.register_buffer(f"b{i}", y.detach().clone())
            elif how == "module":
                self.add_module(f"m{i}", nn.ReLU())
            elif how == "mode":
                self.train(not self.training)
            elif how == "grad":
                self.lin.bias.grad = torch.ones(4, dtype=self.lin.bias.dtype)
            elif how == "requires_grad":
                self.lin.bias.requires_grad_(False)
            elif how == "generator":
                return y + torch.rand(4, generator=self.generator)
            elif how == "tensor attribute":
                self.lin.weight.seen = getattr(self.lin.weight, "seen", 0) + 1
            elif how == "thread":
                thread = threading.Thread(
                    target=lambda: self.lin.register_forward_hook(lambda m, args, out: out + 1)
                )
                thread.start()
                thread.join()
            elif how == "executor":
                with ThreadPoolExecutor(1) as pool:
                    y = y + pool.submit(lambda: self.lin(x.detach()).sum()).result()
            elif how == "delete":
                self.extra = 3 if not hasattr(self, "extra") else 4
            return (
                y
                + len(self._buffers)
                + len(self._modules)
                + getattr(self.lin.weight, "seen", 0)
                + self.lin.bias.requires_grad
                + (self.lin.bias.grad is not None)
            )

        def module(self, x, y, i, kind, *_):
            part = self.parts[kind]
            if kind == "lstm":
                return y + part(x)[0]
            if kind == "encoder":
                return y + part(x[None])[0]
            return y + part(x)

    return Body


def program(body_class, spec: dict):
    "(callable, arguments, module) of a description."
    body = body_class(spec)
    wanted = [(i, a) for i, a in enumerate(spec["actions"]) if a[0] == "container"]
    GLOBALS.clear()
    GLOBALS.update({i: container(a[1]) for i, a in wanted if a[3] == "global"})
    caches = {i: container(a[1]) for i, a in wanted if a[3] == "argument"}
    closed = {i: container(a[1]) for i, a in wanted if a[3] == "closure"}
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    import torch

    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    if not spec["function"]:
        return body, (x, caches), body
    closed["count"] = count
    return (lambda x, caches: body(x, caches, closed)), (x, caches), body


# --- the worker
# -------------------------------------------------------------------------------------------------


def reset() -> None:
    "Settings as a fresh process has them, without fasterroof's help."
    global COUNT
    import numpy as np
    import torch
    from torch.nn.modules import module

    COUNT, Switch.at = 0, -1
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(1)
    torch.backends.mkldnn.set_flags(True)
    torch.autograd.set_detect_anomaly(False, check_nan=True)
    torch.set_autocast_enabled("cpu", False)
    for name in vars(module):
        if name.startswith("_global_") and name.endswith("hooks"):
            getattr(module, name).clear()
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def plain(made) -> tuple:
    "What a plain call gives, down to the bits, or the error that it raises."
    import numpy as np
    import torch

    fn, args, body = made
    try:
        y = fn(*args)
    except Exception as e:
        return "raised", f"{type(e).__name__}: {e}"
    kind = type(y).__name__
    y = y.detach().contiguous()
    drawn = torch.rand(1).item(), random.random(), float(np.random.rand())
    body.state_dict()
    return kind, str(y.dtype), y.view(torch.uint8).numpy().tobytes().hex(), drawn


def with_fasterroof(made, check: str, fails_at: int) -> None:
    "One use of fasterroof; what it raises is its answer."
    import torch

    import fasterroof
    from fasterroof.core.errors import FasterroofError
    from fasterroof.machine.roof import Roof

    fn, args, body = made
    roof = Roof(1e12, 1e11)
    name, _, fails = check.partition(" ")
    if fails:
        Switch.at = fails_at

    def loss(out):
        return out.float().square().sum()

    with contextlib.suppress(FasterroofError):
        if name in ("trace", "real", "backward"):
            fasterroof.trace(fn, *args, real=name == "real", backward=name == "backward")
        elif name in ("profile", "train"):
            train = (
                {"loss": loss, "optimizer": torch.optim.AdamW(body.parameters())}
                if name == "train"
                else {}
            )
            fasterroof.RooflineAnalyzer(fn, args, roof, **train).profile(warmup=1, steps=1)
        elif name == "step":
            fasterroof.profile_step(fn, *args, peaks=roof, warmup=0, steps=1)
        else:
            with fasterroof.watch(body, peaks=roof), contextlib.suppress(Exception):
                fn(*args)
    Switch.at = -1


def broken(body_class, spec: dict) -> str:
    "What is no longer as it was, in words; empty if nothing."
    for check in spec["checks"]:
        body_class_now = body_class()  # a class of its own, since programs change class attributes
        reset()
        fresh = program(body_class_now, spec)
        reset()
        if check.startswith("watch"):  # what is watched is a plain call of the user's
            Switch.at = spec["fails_at"] if check.endswith("fails") else -1
            with contextlib.suppress(Exception):
                fresh[0](*fresh[1])
            Switch.at = -1
        want = [plain(fresh) for _ in range(3)]
        body_class_now = body_class()
        reset()
        used = program(body_class_now, spec)
        reset()
        try:
            with_fasterroof(used, check, spec["fails_at"])
        except Exception as e:
            return f"{check}: raised {type(e).__name__}: {e}"
        got = [plain(used) for _ in range(3)]
        if got != want:
            i = next(i for i in range(3) if got[i] != want[i])
            return f"{check}: call {i + 1} gave {_short(got[i])}, not {_short(want[i])}"
    return ""


def _short(result: tuple) -> str:
    return str(result)[:160]


def work() -> None:
    "Read descriptions from standard input, a line each, and answer with a line each."
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print is no answer
    import torch
    import torch.distributed as dist

    from fasterroof.roofline import session

    class NoLook(
        contextlib.nullcontext
    ):  # probing the machine takes seconds, and is none of the program's business
        used_s, disturbed, usual, probe = 0.0, False, False, None

        def __init__(self, *args, **kwargs):
            super().__init__(self)

        def beside(self, roof):
            pass

        def look(self):
            return {}

    session.DriftGuard = NoLook
    warnings.simplefilter("ignore")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    first = True
    for line in sys.stdin:
        message = json.loads(line)
        if "undo" in message:
            UNDO[message["undo"]]()
            continue
        gc.collect()
        with torch.no_grad():
            torch.ones(2).sum()
        print(json.dumps({"broken": broken(body_class, message)}), file=answers, flush=True)
        if first:  # what was imported stays: a collection before each measurement need not visit it
            gc.collect()
            gc.freeze()
            first = False


# --- fixes taken back
# -------------------------------------------------------------------------------------------------


def _undo_ordered():
    from fasterroof.core import restoring

    def restorer(x):
        was = dict(x)

        def restore():
            if [*map(id, x)] != [*map(id, was)] or any(x[k] is not v for k, v in was.items()):
                dict.clear(x)
                dict.update(x, was)

        return restore

    restoring._dict_restorer = restorer


def _undo_subclasses():
    from fasterroof.core import restoring

    def restorer(x):
        items = list(x)

        def restore():
            if list(x) != items:
                x.clear()
                x.extend(items)

        return restore

    restoring._sequence_restorer = restorer


def _undo_hooks():
    import torch

    from fasterroof.core import restoring

    restoring._restorers.register(torch.nn.Module, restoring._of_object)


def _undo_sizes():
    from fasterroof.core.storages import Guard

    def restore(self):
        for key, begin, content in self.saved:
            t = self.storages[key]
            if begin == 0 and t.nbytes() == content.numel():
                t.copy_(content.untyped_storage())
            else:
                raise RuntimeError("size does not match")

    Guard.restore = restore


def _undo_direct():
    from fasterroof.core.storages import Guard

    Guard.watching = lambda self: contextlib.nullcontext()
    Guard.save = lambda self, tensors=None: None


def _undo_default_dtype():
    import torch

    from fasterroof.core import settings

    settings._SWITCHES = [
        pair for pair in settings._SWITCHES if pair[0] is not torch.get_default_dtype
    ]


def _undo_frozen():
    import torch

    from fasterroof.core import restoring

    made = restoring._restorers.dispatch(torch.nn.Module)

    def restorers(x):
        return [*made(x), functools.partial(setattr, x, "training", x.training)]

    restoring._restorers.register(torch.nn.Module, restorers)


def _undo_script():
    from fasterroof.core import objects, restoring

    objects.script_attributes = restoring.script_attributes = lambda module: {}


def _undo_slots():
    from fasterroof.core import objects, restoring

    objects.filled_slots = restoring.filled_slots = lambda x: {}


def _undo_functions():
    from types import FunctionType

    from fasterroof.core import restoring

    restoring._restorers.register(FunctionType, lambda fn: ())


def _undo_classes():
    from fasterroof.core import restoring

    restoring._restorers.register(type, lambda cls: ())


def _undo_profile():
    from fasterroof.work.program import Program

    @contextlib.contextmanager
    def kept(self):
        yield

    Program.kept = kept


UNDO = {
    name.removeprefix("_undo_"): fn
    for name, fn in list(globals().items())
    if name.startswith("_undo_")
}


# --- the driver
# -------------------------------------------------------------------------------------------------


class Worker:
    "A subprocess that tries programs; it is started again when one of them breaks or kills it."

    def __init__(self, undo: str | None = None):
        self.undo, self.process = undo, None

    def start(self) -> None:
        env = os.environ | {"OMP_NUM_THREADS": "1", "KINETO_LOG_LEVEL": "99"}
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-X",
            "faulthandler",
            str(Path(__file__).resolve()),
            "--work",
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
            stderr=subprocess.DEVNULL,
        )
        if self.undo:
            self.send({"undo": self.undo})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def tried(self, spec: dict, limit: float = 120) -> str:
        "What is broken by a program; empty if nothing."
        if self.process is None:
            self.start()
        self.send(spec)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.process.stdout.readline)
            try:
                line = answer.result(limit)
            except TimeoutError:
                self.stop()
                return "no answer"
        if line:
            found = json.loads(line)["broken"]
        else:
            found = f"the process ended with {self.process.wait()}"
        if found:
            self.stop()
        return found

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def try_programs(
    n: int,  # programs
    seed: int = 0,  # of hypothesis
    undo: str | None = None,  # a fix that is taken back
    shrink: bool = False,  # True: look for the smallest description of what breaks
) -> tuple[int, dict | None, str]:  # programs tried, the one that broke, and how
    "Try programs until one breaks."
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings

    worker, tried, last = Worker(undo), 0, (None, "")
    phases = [Phase.generate, *([Phase.shrink] if shrink else [])]

    @hypothesis.seed(seed)
    @settings(
        max_examples=n,
        deadline=None,
        database=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(descriptions())
    def check(spec):
        nonlocal tried, last
        spec = spec | {"actions": [*turns(tried), *spec["actions"]]}
        found = worker.tried(spec)
        tried += not last[0]
        if found:
            last = spec, found
            raise AssertionError(found)

    try:
        check()
    except (AssertionError, hypothesis.errors.HypothesisException):
        if last[0] is None:
            raise
    finally:
        worker.stop()
    return tried, *last


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=30, help="how many programs are tried (30)")
    parser.add_argument("--seed", type=int, default=0, help="of hypothesis (0)")
    parser.add_argument(
        "--undo",
        nargs="+",
        metavar="FIX",
        choices=["all", *UNDO],
        help=f"take fixes back and see whether that is found: all, or of {', '.join(UNDO)}",
    )
    parser.add_argument(
        "--shrink", action="store_true", help="reduce a program that breaks to the smallest"
    )
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work()
        return 0
    start = time.perf_counter()
    if not asked.undo:
        tried, spec, found = try_programs(asked.programs, asked.seed, shrink=asked.shrink)
        print(
            f"{tried} programs, {'1 broken' if spec else '0 broken'},"
            f" {time.perf_counter() - start:.0f} s"
        )
        if spec:
            print(found, json.dumps(spec), sep="\n")
        return spec is not None
    missed = []
    for fix in UNDO if "all" in asked.undo else asked.undo:
        tried, spec, found = try_programs(asked.programs, asked.seed, fix, asked.shrink)
        print(
            f"{fix} taken back: "
            + (f"found by program {tried}: {found}" if spec else f"not found by {tried}")
        )
        if not spec:
            missed.append(fix)
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
