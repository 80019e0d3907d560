"""Turns measured accesses (JSON lines, also gzipped) into tables that a test can read.

    convert.py h100.jsonl.gz h100             writes h100_accesses.csv and h100_offsets.csv
    convert.py rows.jsonl.gz h100 lds_v4 ...  writes h100_random.csv, of these ops alone

The first is for the calibration. Offsets belong to (pattern, width, space); the table of accesses
names them instead of repeating them. No row and no column is lost.

The second is for the rows of the GPU test, whose patterns are used once. Offsets are in units of
the width: `start+step` if those of the 32 lanes are evenly spaced, else of the lanes that were on,
in order. `source` is empty where there is none and `=` where it is the same. What is lost: offsets
of lanes that were off, unless evenly spaced; columns that are the same in all rows.

That reading the tables back gives the same objects in the same order is checked before this ends.
"""

import csv
import gzip
import json
import sys
from pathlib import Path

COUNTS = [
    "shared_wavefronts",
    "shared_ideal",
    "global_sectors",
    "global_ideal",
    "local_sectors",
    "l1_tags",
    "shared_instructions",
]
KEY = ["pattern", "width", "space"]


def read_lines(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def read_tables(accesses, offsets):
    with open(offsets, newline="", encoding="utf-8") as lines:
        table = {
            (pattern, int(width), space): [int(offset) for offset in rest]
            for pattern, width, space, *rest in list(csv.reader(lines))[1:]
        }
    with open(accesses, newline="", encoding="utf-8") as lines:
        for op, width, space, pattern, mask, *counts in list(csv.reader(lines))[1:]:
            yield {
                "op": op,
                "width": int(width),
                "space": space,
                "pattern": pattern,
                "mask": int(mask, 16),
                "offsets": table[pattern, int(width), space],
                "counts": [int(count) for count in counts],
            }


def convert_calibration(source, name):
    rows = read_lines(Path(source))
    offsets = {}
    for row in rows:
        key = tuple(row[column] for column in KEY)
        if offsets.setdefault(key, row["offsets"]) != row["offsets"]:
            sys.exit(f"{source}: two rows of {key} have different offsets. Give them two patterns")
    accesses_csv, offsets_csv = f"{name}_accesses.csv", f"{name}_offsets.csv"
    write(
        offsets_csv,
        KEY + [f"lane{i}" for i in range(32)],
        ([*key, *values] for key, values in offsets.items()),
    )
    write(
        accesses_csv,
        ["op", "width", "space", "pattern", "mask", *COUNTS],
        (
            [r["op"], r["width"], r["space"], r["pattern"], f"{r['mask']:08x}", *r["counts"]]
            for r in rows
        ),
    )
    if list(read_tables(accesses_csv, offsets_csv)) != rows:
        sys.exit(f"{accesses_csv} does not give back {source}")


def lanes_on(mask):
    return [lane for lane in range(32) if mask >> lane & 1]


def packed(offsets, row):
    units = [offset // row["width"] for offset in offsets]
    step = units[1] - units[0]
    if units == [units[0] + lane * step for lane in range(32)]:
        return f"{units[0]}+{step}"
    return " ".join(str(units[lane]) for lane in lanes_on(row["mask"]))


def unpacked(text, width, mask):
    """The offsets of the lanes that were on."""
    if "+" in text:
        start, step = (int(part) for part in text.split("+"))
        return [(start + lane * step) * width for lane in lanes_on(mask)]
    return [int(unit) * width for unit in text.split()]


def random_row(row):
    source = row.get("source_offsets")
    return [
        row["op"],
        row["width"],
        f"{row['mask']:08x}",
        packed(row["offsets"], row),
        "" if source is None else "=" if source == row["offsets"] else packed(source, row),
        *row["counts"][:4],
    ]


def read_random(path):
    with open(path, newline="", encoding="utf-8") as lines:
        for op, width, mask, offsets, source, *counts in list(csv.reader(lines))[1:]:
            key = int(width), int(mask, 16)
            to = unpacked(offsets, *key)
            known = {"": None, "=": to}
            source = known[source] if source in known else unpacked(source, *key)
            yield op, *key, to, source, [int(count) for count in counts]


def as_read(row):
    def on(offsets):
        return offsets and [offsets[lane] for lane in lanes_on(row["mask"])]

    key = row["op"], row["width"], row["mask"]
    return *key, on(row["offsets"]), on(row.get("source_offsets")), row["counts"][:4]


def convert_random(source, name, ops):
    rows = [row for row in read_lines(Path(source)) if row["op"] in ops]
    constant = {(row["space"], *map(str, row["counts"][4:])) for row in rows}
    if not constant <= {("shared", "0", "None", "1"), ("async", "0", "None", "0")}:
        sys.exit(f"{source}: columns that were to be left out are not the same in all rows")
    path = f"{name}_random.csv"
    header = ["op", "width", "mask", "offsets", "source", *COUNTS[:4]]
    write(path, header, map(random_row, rows))
    if list(read_random(path)) != list(map(as_read, rows)):
        sys.exit(f"{path} does not give back {source}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        convert_calibration(*sys.argv[1:])
    else:
        convert_random(sys.argv[1], sys.argv[2], sys.argv[3:])
