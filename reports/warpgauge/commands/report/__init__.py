"""Keep runs in a history, and make pages and pictures of them."""

EPILOG = """\
exit codes:
  0  done
  2  an error

examples:
  warpgauge report ingest out/facts.jsonl --db history.db
  warpgauge report html --db history.db --out site
  warpgauge report html --help
"""
