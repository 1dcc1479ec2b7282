"The Chromium that is on this machine, for the checks of the site and for pictures."
import os
import shutil
import sys

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"


def chromium(playwright):
    "Start it headless, without a network of its own; a context manager."
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found: sys.exit(f"None of {', '.join(NAMES)} is here: install Debian's package chromium.")
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Chromium refuses root with it
    return playwright.chromium.launch(executable_path=found, args=[
        *sandbox, "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"])
