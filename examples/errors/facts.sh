# Files of facts: what is wrong in one, and what cannot be compared, shown or written for CI.
# shellcheck shell=bash disable=SC2154

about "Files that are no facts"
printf '{"schema": 1' >cut.jsonl
printf '{"schema": 1}\n' >other.jsonl
printf 'not facts\n' >text.jsonl
: >empty.jsonl
fact one.jsonl
gzip -c one.jsonl | head -c 100 >cut.jsonl.gz
mkdir -p folder
for file in missing.jsonl cut.jsonl other.jsonl text.jsonl empty.jsonl folder; do
  try "warpgauge compare $file $file"
  try "warpgauge emit $file --format tap"
done
try "warpgauge emit cut.jsonl.gz --format tap"

about "Lines that are no facts"
for what in array clock_type confidence confidence_reason_missing confidence_reason_of_exact \
  device_type dirty_type empty_text grid_length id interval_order line_verdict machine_key \
  machine_pair metric missing_device_key null_metric null_verdict scope throttling time_form unit \
  unknown_launch_key value_type verdict word_value_type; do
  cp "$root/tests/data/facts/bad_$what.jsonl" .
  try "warpgauge compare bad_$what.jsonl bad_$what.jsonl"
done
fact launch.jsonl 'launch="big"'
fact machine.jsonl 'machine="big"'
fact scope.jsonl scope=null
for file in launch.jsonl machine.jsonl scope.jsonl; do
  try "warpgauge compare $file $file"
done
for what in array id interval_order nan unknown_key value_type; do
  cp "$root/tests/data/facts/bad_$what.jsonl" .
  try "warpgauge emit bad_$what.jsonl --format tap"
done

about "Runs that cannot be compared"
fact another.jsonl 'variant="naive"'
fact part.jsonl 'metric="shared.wavefronts"'
cat part.jsonl part.jsonl >twice.jsonl
try "warpgauge compare one.jsonl another.jsonl"
try "warpgauge compare part.jsonl part.jsonl"
try "warpgauge compare twice.jsonl twice.jsonl"
try "warpgauge diff one.jsonl another.jsonl"
try "warpgauge diff one.jsonl one.jsonl --noise much"
try "warpgauge diff one.jsonl one.jsonl one.jsonl"
try "warpgauge diff one.jsonl one.jsonl --filter 'transpoze.*'"

about "Results for CI systems"
try "warpgauge emit one.jsonl --format junti"
try "warpgauge emit one.jsonl"
try "warpgauge emit one.jsonl --all ci --out junit.xml"
try "warpgauge emit one.jsonl --all ci --require cutpi"
try "warpgauge emit one.jsonl --all ci --exit-code 300"
try "warpgauge emit one.jsonl --format junit --out folder"
