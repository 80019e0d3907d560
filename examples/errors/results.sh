# Recorded facts: comparing them, writing them for CI, accepting them as budgets, keeping their history.
# shellcheck shell=bash disable=SC2154

printf 'not facts\n' >text.jsonl
for family in hello copies; do
  warpgauge-emulated gate --filter "$family.*" --out $family >gate.txt 2>&1
done
warpgauge-faulty-emulated gate --filter 'canaries.padding_removed.*' --arch sm_90 --out red >gate.txt 2>&1
sed -i 's/"dirty":true/"dirty":false/' red/facts.jsonl  # as from a commit

about "Files of facts"
try "warpgauge emit missing.jsonl --format tap"
try "warpgauge emit text.jsonl --format tap"
try "warpgauge emit hello/facts.jsonl --format junti"
try "warpgauge diff hello/facts.jsonl copies/facts.jsonl"

about "Accepting budgets"
accept="warpgauge accept red/facts.jsonl --root '$root' --any-commit"
try "CI=true $accept"
try "$accept"
try "$accept --filter 'transpoze.*'"

about "The history"
try "warpgauge report runs --db missing.db"
try "warpgauge report ingest text.jsonl --db history.db"
try "warpgauge report html --db history.db --out site"
try "warpgauge report ingest hello/facts.jsonl --label ' ' --db history.db"
try "warpgauge report prune --run 20261122T073303Z-f10e5ebe --db history.db"
try "warpgauge report prune --keep 2w --db history.db"
try "warpgauge report export --since yesterday --db history.db"
try "warpgauge report html --db history.db --out site --commit-link 'git.example/{commit}'"
try "warpgauge report html --db history.db --out site --compare-link 'https://git.example/{commit}'"
try "warpgauge report html --db history.db --out site --address 'https://git.example/?page'"
try "warpgauge report html --db history.db --out site --repo missing"
try "warpgauge report bisect transpose.tiled.f32@1024x1024/registers --db history.db"
warpgauge report ingest hello/facts.jsonl --db hello.db >/dev/null
try "warpgauge report html --db hello.db --out site --label trial"
