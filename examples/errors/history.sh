# The history of runs, its pages and its pictures.
# shellcheck shell=bash disable=SC2154

database() { # FILE SQL...: a database of somebody else's
  python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    for line in sys.argv[2:]:
        database.execute(line)' "$@"
}
fact one.jsonl
fact changed.jsonl value=31745
fact timeless.jsonl 'time="2026-99-01T23:00:00Z"' 'run="timeless"'
printf 'not facts\n' >text.jsonl
printf 'no database\n' >text.db
: >empty.jsonl
: >file

about "The database"
try "warpgauge report runs --db missing.db"
try "warpgauge report runs --db text.db"
try "warpgauge report runs --db mysql://host/name"
try "warpgauge report runs --db 'sqlite:///history.db?mode=ro'"
try "warpgauge report runs --db 'postgresql://host:port/name'"
try "warpgauge report ingest one.jsonl --db file/history.db"
database other.db 'CREATE TABLE runs (name TEXT)'
database none.db 'CREATE TABLE songs (name TEXT)'
database newer.db 'CREATE TABLE alembic_version (version_num TEXT)' \
  "INSERT INTO alembic_version VALUES ('9999')"
try "warpgauge report runs --db other.db"
try "warpgauge report runs --db none.db"
try "warpgauge report runs --db newer.db"

about "Bringing facts in"
try "warpgauge report ingest text.jsonl --db history.db"
try "warpgauge report ingest empty.jsonl --db history.db"
try "warpgauge report ingest timeless.jsonl --db history.db"
try "warpgauge report html --db history.db --out site"
warpgauge report ingest one.jsonl --db history.db >ingested.txt 2>&1
try "warpgauge report ingest changed.jsonl --db history.db"

about "What is shown of it"
try "warpgauge report hmtl"
try "warpgauge report html --db history.db --out site --filter 'transpoze.*'"
try "warpgauge report html --db history.db --out site --nights none"
try "warpgauge report html --db history.db --out site --source-link example.com"
try "warpgauge report prune --db history.db --keep soon"
try "warpgauge report export --db history.db --metric registres"
try "warpgauge report export --db history.db --filter 'transpoze.*'"
database history.db "UPDATE series SET metric = 'shared.songs'"
try "warpgauge report html --db history.db --out site"

about "Heat maps"
grid() { # [KEY=JSON...]: facts of sizes that span a grid
  fact cell.jsonl "$@"
  line=$(cat cell.jsonl)
  for size in {1,2,4,8}x{1,2,4,8}; do
    printf '%s\n' "${line//1024x1024/$size}"
  done >grid.jsonl
}
try "warpgauge report heatmap one.jsonl --out maps --metric registres"
try "warpgauge report heatmap one.jsonl --out maps"
try "warpgauge report heatmap one.jsonl --out maps --metric shared.bank_conflicts"
grid value=null 'verdict="unmeasured"'
try "warpgauge report heatmap grid.jsonl --out maps --metric shared.bank_conflicts"
grid 'metric="occupancy.limiter"' 'unit="resource"' 'value="registers"'
try "warpgauge report heatmap grid.jsonl --out maps --metric occupancy.limiter"
grid
try "warpgauge report heatmap grid.jsonl --out file/maps --metric shared.bank_conflicts"
for size in {1..65}x{1,2,4,8}; do
  printf '%s\n' "${line//1024x1024/$size}"
done >grid.jsonl
try "warpgauge report heatmap grid.jsonl --out maps --metric shared.bank_conflicts"
