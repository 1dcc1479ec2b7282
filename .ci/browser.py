"""The Chromium that is on this machine, for the checks of the site and for pictures.

`python3 .ci/browser.py` fails where there is none; any Python runs it.
"""

import shutil
import sys

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def found() -> str:
    "Its path."
    path = next(filter(None, map(shutil.which, NAMES)), None)
    return path or sys.exit(
        "There is no browser to check the site with: install chromium or google-chrome."
    )


def chromium(playwright):
    "Start it headless, without a network of its own; a context manager."
    return playwright.chromium.launch(
        executable_path=found(),
        args=[
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
        ],
    )


if __name__ == "__main__":
    found()
