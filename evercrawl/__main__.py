"""`python -m evercrawl`."""

import sys

from evercrawl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
