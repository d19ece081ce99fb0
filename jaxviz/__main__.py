"""The command `jaxviz`, as `python -m jaxviz`: for Pythons whose commands are not on the path."""

import sys

from jaxviz.cli import main

sys.exit(main())
