"""python -m warpgauge COMMAND"""

import sys

from warpgauge.program import main

sys.exit(main())
