"""python -m warpgauge_report: the same as the program warpgauge-report."""

import sys

from warpgauge_report.cli import main

sys.exit(main())
