"""python -m tablecast is the command tablecast."""

import sys

from tablecast.cli import main

if __name__ == "__main__":
    sys.exit(main())
