"""`python -m sluice` is `sluice`."""

import sys

from sluice.cli.main import main

sys.exit(main())
