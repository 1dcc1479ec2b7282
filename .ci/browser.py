"""Find and start Chromium, for the checks of the site and for pictures.

`python3 .ci/browser.py` fails if there is none; any Python can run it.
"""

import shutil
import sys

NAMES = (
    "chromium-headless-shell",  # the same without windows, which takes a quarter less time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def browser_path() -> str:
    "Return the path of Chromium; exit if there is none."
    path = next(filter(None, map(shutil.which, NAMES)), None)
    return path or sys.exit(
        "Checking the site requires a browser: install chromium or google-chrome."
    )


def chromium(playwright):
    "Start Chromium headless and without network access, as a context manager."
    return playwright.chromium.launch(
        executable_path=browser_path(),
        args=[
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
        ],
    )


if __name__ == "__main__":
    browser_path()
