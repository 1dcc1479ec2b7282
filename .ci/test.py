"""Run `nbdev_test` with cheaper garbage collection; the options are those of `nbdev_test`.

A worker runs many notebooks in one process. torch, JAX and what earlier notebooks leave behind grow
to a million objects, and each measurement starts with a full collection, which visits all of them
(half a second). So each notebook begins with a collection, and the objects that survive it are
excluded from later ones. Between measurements, Python collects less often than by default.

A notebook that fails beside others runs once more in a new process, as a reader would run it. The
test has failed either way; the second run tells whether it depends on the load of the machine or on
an earlier notebook of its process.
"""

import gc
import os
import subprocess
import sys

import nbdev.test


class Shell(nbdev.test.CaptureShell):
    "The shell in which one notebook runs."

    def __init__(self, *args, **kwargs):
        gc.collect()
        gc.freeze()
        super().__init__(*args, **kwargs)


nbdev.test.CaptureShell = Shell
gc.set_threshold(20_000, 20, 20)  # 7 % less CPU time in four notebooks that create many objects
test_once, AGAIN = nbdev.test.test_nb, "FASTERROOF_TESTED_AGAIN"


def test_nb(fn, **options):
    "Test a notebook; if it fails, test it again in a new process, and print whether it passes."
    passed, seconds = test_once(fn, **options)
    if not passed and AGAIN not in os.environ:
        words = [sys.executable, __file__, *sys.argv[1:], "--path", fn]
        alone = subprocess.run(words, env=os.environ | {AGAIN: "1"}).returncode == 0
        print(f"{fn} failed beside others and {'passes' if alone else 'fails'} alone.", flush=True)
    return passed, seconds


test_nb.__module__ = "nbdev.test"  # workers do not find it in __main__, which IPython replaces
nbdev.test.test_nb = test_nb
if __name__ == "__main__":
    nbdev.test.nbdev_test()
