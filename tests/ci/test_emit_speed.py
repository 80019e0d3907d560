"""20,000 facts are read and written in any format in seconds; `pytest -s` shows how many."""

import time

import pytest
from emit_samples import CANARIES, SOURCE
from warpgauge.facts.reader import read_facts
from warpgauge.outcome.results import Results, Sources
from warpgauge.outputs import FORMATS

FACTS = 20_000
# The aim is 2 s of a processor for reading and one format; a busy machine gets three times that.
MOST_SECONDS = 6


def facts_of(verdict):
    """The lines of a run, again and again with other sizes, all cases with one verdict."""
    lines = [
        line for line in CANARIES.read_text().splitlines(True) if '"source":"emulator"' in line
    ]
    for count in range(FACTS):
        line = lines[count % len(lines)].replace("@1024", f"@{count}")
        line = line.replace('"size":"1024"', f'"size":"{count}"')
        if '"scope":"case"' in line:
            for known in ("pass", "fail", "unbudgeted"):
                line = line.replace(f'"verdict":"{known}"', f'"verdict":"{verdict}"')
        yield line


@pytest.fixture(scope="module", params=["pass", "fail"])
def run(request, tmp_path_factory):
    """The results of a run, and the seconds that reading them took."""
    path = tmp_path_factory.mktemp("facts") / "facts.jsonl"
    with path.open("w") as file:
        file.writelines(facts_of(request.param))
    start = time.process_time()
    facts = read_facts(path)
    results = Results(facts, Sources(SOURCE))
    seconds = time.process_time() - start
    assert len(facts) == FACTS
    print(f"\n{FACTS} facts, cases {request.param}: read in {seconds:.1f} s")
    return results, seconds


@pytest.mark.parametrize("format", FORMATS)
def test_many_facts(run, format):
    results, reading = run
    start = time.process_time()
    text = FORMATS[format].render(results)
    seconds = time.process_time() - start
    print(f"{format}: {seconds:.1f} s, {len(text) / 1e6:.1f} MB")
    assert text
    assert reading + seconds < MOST_SECONDS
