"""Keep runs in a history, and make pages and pictures of them."""

EPILOG = """\
exit codes:
  0  done; of html, nothing is wrong
  1  of html: something is over budget, or got worse, or was cut off
  2  an error
  3  of html: nothing was judged

examples:
  warpgauge report ingest out/facts.jsonl --db history.db
  warpgauge report html --db history.db --out site
  warpgauge report html --help
"""
