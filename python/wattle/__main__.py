# mypy: no-implicit-reexport
"""`python -m wattle`: the command."""

import os
import sys

from wattle._run import command


def main() -> None:
    path = command()
    sys.stdout.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
