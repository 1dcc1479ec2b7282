"""Check a release: the files of the wheel and the sdist, and their description.

    python -m build && python -m twine check --strict dist/* && python .ci/release.py dist

The wheel must contain every tracked file under fasterroof/, the sdist also the files that setup.py
reads.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

root = Path(__file__).resolve().parent.parent
BESIDE = "setup.py", "settings.ini", "README.md", "LICENSE"
RELATIVE = re.compile(r'(?:\]\(|\bsrc="|\bsrcset=")(?!\w+:|#)[^)"]*')


def only(folder: Path, pattern: str) -> Path:
    "Return the only file of this kind; a second one is left from another build."
    files = list(folder.glob(pattern))
    if len(files) != 1:
        sys.exit(f"{folder} has {len(files)} files {pattern}: empty it, then run python -m build")
    return files[0]


dist = Path(sys.argv[1] if len(sys.argv) > 1 else root / "dist")
listed = subprocess.run(
    ["git", "ls-files", "fasterroof"], cwd=root, capture_output=True, text=True, check=True
)
tracked = set(listed.stdout.split())
wheel = zipfile.ZipFile(only(dist, "*.whl"))
sdist = tarfile.open(only(dist, "*.tar.gz"))
in_sdist = {name.partition("/")[2] for name in sdist.getnames()}
problems = [f"the wheel lacks {name}" for name in sorted(tracked - set(wheel.namelist()))]
problems += [f"the sdist lacks {n}" for n in sorted((tracked | set(BESIDE)) - in_sdist)]
strays = {n for n in wheel.namelist() if ".dist-info/" not in n} - tracked
problems += [f"the wheel contains {name}, which git does not track" for name in sorted(strays)]
metadata = next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
description = wheel.read(metadata).decode().partition("\n\n")[2]
problems += [f"a relative link in the description: {m}" for m in RELATIVE.findall(description)]
if problems:
    sys.exit("\n".join(problems))
print(f"{len(tracked)} files in the wheel and in the sdist; no relative link in the description")
