"Packaging, read from settings.ini (nbdev's layout, without the removed pkg_resources)."

import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

cfg = ConfigParser(delimiters=["="])
cfg.read("settings.ini", encoding="utf-8")
cfg = cfg["DEFAULT"]

PYTHONS = ("3.11", "3.12", "3.13")
STATUSES = {"3": "3 - Alpha", "4": "4 - Beta", "5": "5 - Production/Stable"}


def requirements(name):
    "The whitespace-separated requirements of one settings.ini field."
    return cfg.get(name, "").split()


def absolute(text, git_url, branch):
    "Markdown with absolute links and pictures: a package index has no files beside it."
    raw = git_url.replace("https://github.com/", "https://raw.githubusercontent.com/", 1)
    to_picture, to_file = rf"\g<1>{raw}/{branch}/", rf"\g<1>{git_url}/blob/{branch}/"
    relative = r"(?!\w+:|#|/)"
    text = re.sub(rf'(\bsrc="|\bsrcset="|!\[[^\]]*\]\(){relative}', to_picture, text)
    return re.sub(rf"(\]\(){relative}", to_file, text)


EXTRAS = (
    "probes",
    "jax",
    "vision",
    "nvml",
    "contract",
    "bench",
    "pyg",
    "models",
    "tried",
    "int8",
    "mcp",
    "loops",
    "pytest",
    "docs",
    "ray",
    "comparisons",
)
NOT_DEV = "ray", "comparisons"  # what developers install only where they need it
extras = {name: requirements(f"{name}_requirements") for name in EXTRAS}
extras["dev"] = sum(
    (extras[name] for name in EXTRAS if name not in NOT_DEV), requirements("dev_requirements")
)

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=absolute(
        Path("README.md").read_text(encoding="utf-8"), cfg["git_url"], cfg["branch"]
    ),
    long_description_content_type="text/markdown",
    keywords=cfg["keywords"],
    url=cfg["git_url"],
    author=cfg["author"],
    author_email=cfg["author_email"],
    license="Apache-2.0",
    license_files=["LICENSE"],
    classifiers=[
        f"Development Status :: {STATUSES[cfg['status']]}",
        f"Intended Audience :: {cfg['audience']}",
        *(f"Programming Language :: Python :: {v}" for v in PYTHONS),
    ],
    packages=find_packages(include=["fasterroof", "fasterroof.*"]),
    package_data={
        # lazy_loader reads the stubs when a package is imported
        "": ["*.pyi"],
        "fasterroof": [
            "py.typed",
            "machine/*.json",
            "machine/chipdata/*.json",
            "prediction/*.json",
            "prediction/calibrated/data/*.json",
            "prediction/calibrated/data/*.txt",
            "report/interactive/*.css",
            "report/interactive/*.js",
            "work/hubs/*.json",
            "cli/answers/data/*.json",
            "contract/contracts/*.yaml",
            "bench/*.json",
            "bench/*.txt",
            "bench/views/site/*.css",
            "bench/views/site/*.html",
            "bench/views/site/*.js",
        ],
    },
    python_requires=f">={cfg['min_python']}",
    install_requires=requirements("requirements"),
    extras_require=extras,
    entry_points={
        "console_scripts": requirements("console_scripts"),
        "pytest11": requirements("pytest11"),
        "nbdev": [f"{cfg['lib_name']}={cfg['lib_path']}._modidx:d"],
    },
    zip_safe=False,
)
