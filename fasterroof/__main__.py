"`python -m fasterroof`: the same as the command `fasterroof`."

import sys

from fasterroof.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
