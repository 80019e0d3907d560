"""The transposition of the catalogue, which tests of `explain` look at."""

from pathlib import Path

from programs import run

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "kernels/transpose/family.cu"


def line_of(text):
    """SOURCE:LINE of the first line of the source that ends like this."""
    lines = (ROOT / SOURCE).read_text().splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if line.endswith(text))
    return f"{SOURCE}:{number}"


NAIVE, PADDED = (f"transpose.{variant}.f32@1024x1024" for variant in ("naive", "padded"))
COLUMN = line_of("= tile[i][j];")
STORE = line_of("b[x * h + y] = value;")
KERNEL = "transpose::naive<float>(float*, float const*, int, int)"


def explain(case, *arguments, **options):
    """`warpgauge explain` of a case; `options` are those of run()."""
    return run("warpgauge", "explain", case, *arguments, **options)
