"""Run `nbdev_test` with cheaper garbage collection; the options are those of `nbdev_test`.

A worker runs many notebooks in one process. torch, JAX and what earlier notebooks leave behind grow
to a million objects, and each measurement starts with a full collection, which visits all of them
(half a second). So each notebook begins with a collection, and the objects that survive it are
excluded from later ones. Between measurements, Python collects less often than by default.
"""

import gc

import nbdev.test


class Shell(nbdev.test.CaptureShell):
    "The shell in which one notebook runs."

    def __init__(self, *args, **kwargs):
        gc.collect()
        gc.freeze()
        super().__init__(*args, **kwargs)


nbdev.test.CaptureShell = Shell
gc.set_threshold(20_000, 20, 20)  # 7 % less CPU time in four notebooks that create many objects
if __name__ == "__main__":
    nbdev.test.nbdev_test()
