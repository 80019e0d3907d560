"""Files under `warpgauge inspect` that could pass without having been looked at."""

import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from static_archive import archive
from warpgauge.facts.reader import read_facts

GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
DATA = Path(__file__).resolve().parents[1] / "data"
SPILLS = DATA / "cubin" / "spills.sm_90.cubin"
ELSEWHERE = DATA / "cubin" / "elsewhere.sm_90.cubin"
CLEAN = DATA / "oracle" / "wmma.sm_90.cubin"  # its kernels have no local memory
KERNEL = """
__global__ void __maxnreg__(24) spiller(float* out, const float* in) {
  float value[32];
  for (int i = 0; i < 32; ++i) value[i] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 32; ++i) out[i * 32 + threadIdx.x] = value[31 - i];
}
"""


def nvcc(*arguments):
    found = shutil.which("nvcc") or Path(os.environ["CUDA_HOME"]) / "bin" / "nvcc"
    subprocess.run([found, *arguments], check=True, capture_output=True)


def inspect(tmp_path, *things, env=None, cwd=None):
    command = [GAUGE, "inspect", "--out", tmp_path / "out", *things]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd)


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as out:
        for name, content in members:
            out.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def folder(tmp_path):
    """A folder with clean code in it."""
    place = tmp_path / "folder"
    place.mkdir()
    shutil.copy(CLEAN, place / "clean.cubin")
    return place


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A shared library whose kernel spills."""
    place = tmp_path_factory.mktemp("library")
    (place / "k.cu").write_text(KERNEL)
    nvcc("-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-o", place / "k.so", place / "k.cu")
    return (place / "k.so").read_bytes()


def header(library):
    """Of an ELF file: offset of the headers of sections, their number, that with their names."""
    (offset,) = struct.unpack_from("<Q", library, 40)
    return offset, *struct.unpack_from("<HH", library, 60)


def without_headers(library):
    return library[:40] + bytes(8) + library[48:58] + bytes(6) + library[64:]


def with_other_name(library):
    return library.replace(b"\0.nv_fatbin\0", b"\0.my_fatbin\0")


def without_names(library):
    return library[:62] + b"\xff\xff" + library[64:]


@pytest.mark.parametrize("damage", [without_headers, with_other_name])
def test_code_is_found_without_its_section(damage, library, folder, tmp_path):
    (folder / "k.so").write_bytes(damage(library))
    result = inspect(tmp_path, folder)
    assert result.returncode == 1, result.stdout
    assert "spiller" in result.stdout


@pytest.mark.parametrize(
    "content",
    [
        lambda library: b"",
        lambda library: bytes(len(library)),
        lambda library: library[: len(library) // 2],
        lambda library: b"MY" + library[2:],
        without_names,
        lambda library: library[:40] + b"\xff" * 8 + library[48:],
    ],
    ids=["empty", "zeros", "cut off", "other magic", "no names", "headers beyond the end"],
)
@pytest.mark.parametrize("name", ["k.so", "k.so.1", "k.o"])
def test_what_should_have_code_and_is_not_readable_is_a_fault(
    name, content, library, folder, tmp_path
):
    (folder / name).write_bytes(content(library))
    result = inspect(tmp_path, folder)
    assert result.returncode == 2, result.stdout
    assert f"{folder / name}: " in result.stdout


@pytest.mark.parametrize("name", ["a.cubin", "a.fatbin", "a.a", "a.whl", "a.zip", "a.ptx", "a.WHL"])
@pytest.mark.parametrize("content", [b"", bytes(4096)], ids=["empty", "zeros"])
def test_every_name_of_code_counts(name, content, folder, tmp_path):
    (folder / name).write_bytes(content)
    assert inspect(tmp_path, folder).returncode == 2


def test_what_is_skipped_is_said(folder, tmp_path):
    (folder / "README.md").write_text("text")
    (folder / "a.py").write_text("pass")
    (folder / "k.ptx").write_text(".version 9.0\n.target sm_90\n")
    shutil.copy("/bin/true", folder / "program")
    (folder / "empty.zip").write_bytes(zipped())
    os.mkfifo(folder / "fifo")
    (folder / "nowhere").symlink_to("missing")
    result = inspect(tmp_path, folder)
    assert result.returncode == 0, result.stdout
    left_out = json.loads((tmp_path / "out" / "results.json").read_text())["left_out"]
    expected = [
        "1 file skipped (PTX and no machine code: ptxas compiles PTX that is named itself): "
        f"{folder}/k.ptx",
        f"1 file skipped (a link that leads nowhere): {folder}/nowhere",
        f"1 file skipped (neither a file nor a folder): {folder}/fifo",
        "2 files skipped (neither by name nor by first bytes code for GPUs): "
        f"{folder}/README.md, {folder}/a.py",
        f"2 files skipped (no machine code for GPUs): {folder}/empty.zip, {folder}/program",
    ]
    assert left_out == expected
    records = (tmp_path / "out" / "facts.jsonl").read_text().splitlines()
    assert json.loads(records[-1])["left_out"] == expected
    assert all(sentence in result.stdout for sentence in expected)
    assert "## Left out" in (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("missing")])
def test_a_library_that_is_no_file_is_a_fault(make, folder, tmp_path):
    make(folder / "k.so")
    assert inspect(tmp_path, folder).returncode == 2


def test_links_to_folders_are_followed_once(folder, tmp_path):
    (tmp_path / "other").mkdir()
    shutil.copy(SPILLS, tmp_path / "other" / "k.cubin")
    (folder / "link").symlink_to(tmp_path / "other")
    (folder / "back").symlink_to(folder)
    result = inspect(tmp_path, folder)
    assert result.returncode == 1, result.stdout
    families = {fact.case.family for fact in read_facts(tmp_path / "out" / "facts.jsonl")}
    assert families == {"clean_cubin", "link_k_cubin"}


@pytest.mark.parametrize(
    "member", [("k.o", b""), ("k.o", bytes(100)), ("k", b""), ("inner.a", b"!<arch>\n" + b"x" * 70)]
)
def test_a_file_of_an_archive_that_is_not_readable_is_a_fault(member, tmp_path):
    (tmp_path / "lib.a").write_bytes(archive(("clean.o", CLEAN.read_bytes()), member))
    assert inspect(tmp_path, tmp_path / "lib.a").returncode == 2


@pytest.mark.parametrize(
    "content",
    [
        zipped(("k.so", SPILLS.read_bytes())),
        zipped(("k.so", SPILLS.read_bytes()), method=zipfile.ZIP_STORED),
        zipped(("my.whl", zipped(("k.so", SPILLS.read_bytes())))),
        zipped(("data.bin", zipped(("-rf.dat", SPILLS.read_bytes())))),
        zipped(("../../k.so", SPILLS.read_bytes()), ("/k.so", CLEAN.read_bytes())),
        zipped(("lib.a", archive(("inner.a", archive(("k.o", SPILLS.read_bytes())))))),
    ],
    ids=["deflated", "stored", "wheel in a zip", "by first bytes", "names", "archives"],
)
@pytest.mark.parametrize("name", ["my.whl", "my.WHL", "my.zip", "-my.whl", "data"])
def test_code_in_wheels_is_looked_into(name, content, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    (place / name).write_bytes(content)
    result = inspect(tmp_path, place / name)
    assert result.returncode == 1, result.stdout
    assert inspect(tmp_path, place).returncode == 1
    assert sorted(tmp_path.iterdir()) == [tmp_path / "out", place]


def with_name_twice():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out, pytest.warns(UserWarning, match="Duplicate name"):
        out.writestr("k.so", SPILLS.read_bytes())
        out.writestr("k.so", CLEAN.read_bytes())
    return file.getvalue()


def with_byte(content, magic, offset, value):
    at = content.index(magic) + offset
    return content[:at] + value + content[at + len(value) :]


def encrypted():
    content = zipped(("clean.so", CLEAN.read_bytes()))
    return with_byte(with_byte(content, b"PK\x03\x04", 6, b"\1"), b"PK\x01\x02", 8, b"\1")


def with_wrong_sum():
    content = zipped(("clean.so", CLEAN.read_bytes()))
    return with_byte(with_byte(content, b"PK\x03\x04", 14, b"sum!"), b"PK\x01\x02", 16, b"sum!")


def nested(depth):
    content = zipped(("clean.so", CLEAN.read_bytes()))
    for _ in range(depth):
        content = zipped(("inner.zip", content))
    return content


def bomb():
    """A zip of zips of zeros: 64 KiB that become more than a thousand times as many."""
    inner = zipped(("zeros.so", bytes(64 << 20)))
    return zipped(*((f"{i}.zip", inner) for i in range(8)))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (with_name_twice, "k.so is there twice, and readers differ in which counts"),
        (encrypted, "clean.so in a zip: it is encrypted"),
        (with_wrong_sum, "clean.so in a zip: its checksum is wrong"),
        (
            lambda: zipped(("clean.so", CLEAN.read_bytes()), method=zipfile.ZIP_LZMA),
            "clean.so in a zip: it is compressed by method 14",
        ),
        (lambda: nested(9), "zips in zips are looked into 8 deep"),
        (bomb, "zips in it unpack to more than 1032 times its size"),
        (lambda: zipped(("clean.so", CLEAN.read_bytes()), ("k.so", b"")), "k.so: it is empty"),
        (lambda: archive(("a.zip", zipped(("k.so", SPILLS.read_bytes())))), "is not looked into"),
    ],
)
def test_a_wheel_that_is_not_looked_into_is_a_fault(content, problem, folder, tmp_path):
    (folder / "my.whl").write_bytes(content())
    result = inspect(tmp_path, folder)
    assert result.returncode == 2, result.stdout
    assert problem in result.stdout


def test_nothing_of_a_wheel_stays_after_a_signal(tmp_path):
    (tmp_path / "tmp").mkdir()
    parts = [(f"{i}.so", bytes(16 << 20) + os.urandom(16)) for i in range(20)]
    (tmp_path / "my.whl").write_bytes(zipped(*parts))
    process = subprocess.Popen(
        [GAUGE, "inspect", "--out", tmp_path / "out", tmp_path / "my.whl"],
        **{"env": {**os.environ, "TMPDIR": str(tmp_path / "tmp")}, "stdout": subprocess.DEVNULL},
    )
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    process.wait()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_calls_of_other_objects_are_not_measured(folder, tmp_path):
    """Alone, in a folder and in an archive, also as CUDA 12 writes them."""
    older = bytearray(ELSEWHERE.read_bytes())
    older[8] = 7  # EI_ABIVERSION
    older[48:50] = bytes([90, 0])  # e_flags: the architecture
    for content in [ELSEWHERE.read_bytes(), bytes(older)]:
        (folder / "k.o").write_bytes(content)
        (tmp_path / "lib.a").write_bytes(archive(("c.o", CLEAN.read_bytes()), ("k.o", content)))
        for thing in [folder / "k.o", folder, tmp_path / "lib.a"]:
            result = inspect(tmp_path, thing)
            assert result.returncode == 3, result.stdout
            assert (
                "it calls of_another_object(float*, int), which the device linker adds: link"
                in (result.stdout)
            )


def test_code_that_the_device_linker_compiles_is_not_measured(folder, tmp_path):
    (tmp_path / "k.cu").write_text(KERNEL)
    nvcc("-arch=sm_90", "-dlto", "-c", "-o", folder / "k.o", tmp_path / "k.cu")
    (tmp_path / "lib.a").write_bytes(
        archive(("clean.o", CLEAN.read_bytes()), ("k.o", (folder / "k.o").read_bytes()))
    )
    for thing in [folder / "k.o", folder, tmp_path / "lib.a"]:
        result = inspect(tmp_path, thing)
        assert result.returncode == 3, result.stdout
        assert "it is intermediate code, which the device linker compiles: link it" in (
            result.stdout + result.stderr
        )


def test_ptx_without_ptxas_is_not_measured(tmp_path):
    ptx = tmp_path / "k.ptx"
    ptx.write_text(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")
    result = inspect(tmp_path, ptx, env={"PATH": "/nowhere", "CUDA_HOME": ""})
    assert result.returncode == 3, result.stdout
    assert "has ptxas, which compiles it; install a CUDA toolkit" in result.stderr + result.stdout


@pytest.mark.parametrize(
    "script, says",
    [
        ("exec sleep 300", "took longer than 1 s"),
        # The machine decides which limit it meets first.
        ("exec yes flood", "(took longer than 1 s|wrote more than [0-9]+ bytes)"),
    ],
)
def test_a_ptxas_that_does_not_end_is_ended(script, says, tmp_path):
    ptxas = tmp_path / "ptxas"
    ptxas.write_text(f"#!/bin/sh\n{script}\n")
    ptxas.chmod(0o755)
    (tmp_path / "k.ptx").write_text(".version 9.0\n.target sm_90\n.visible .entry k() { ret; }\n")
    (tmp_path / "tmp").mkdir()
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path / "tmp")}
    result = inspect(tmp_path, "--timeout", "1", tmp_path / "k.ptx", env=env)
    assert result.returncode == 2, result.stdout
    said = " ".join(result.stdout.split())
    assert re.search(f"ptxas -arch sm_90 {says}, and was ended", said), said
    assert list((tmp_path / "tmp").iterdir()) == []
    assert len(result.stderr) < 10_000


def test_messages_of_ptxas_are_shown_whole_up_to_a_limit(tmp_path):
    ptxas = tmp_path / "ptxas"
    ptxas.write_text(
        f"#!/bin/sh\necho no; printf '%1001d\\n' 0 | tr ' ' x; yes more | head -{1000}; exit 1\n"
    )
    ptxas.chmod(0o755)
    (tmp_path / "k.ptx").write_text(".version 9.0\n.target sm_90\n.visible .entry k() { ret; }\n")
    result = inspect(tmp_path, tmp_path / "k.ptx", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert result.returncode == 2, result.stdout
    assert result.stderr.splitlines() == ["no", "x" * 1000, *["more"] * 998]


def test_code_that_only_the_device_linker_completes_is_not_measured(tmp_path):
    """Also where there is nothing else."""
    (tmp_path / "k.cu").write_text(
        "extern __device__ float far(float);\n"
        "__global__ void k(float* out) { out[threadIdx.x] = far(out[threadIdx.x]); }\n"
    )
    nvcc("-arch=sm_90", "-rdc=true", "-c", "-o", tmp_path / "k.o", tmp_path / "k.cu")
    result = inspect(tmp_path, tmp_path / "k.o")
    assert result.returncode == 3, result.stdout
    assert "it calls far(float), which the device linker adds" in result.stdout


@pytest.mark.parametrize("name", ["k.tar.gz", "k.tgz", "k.tar.xz", "k.so.gz", "my.deb"])
def test_packed_files_are_not_looked_into(name, folder, tmp_path):
    content = archive(("data.tar.xz", b"\xfd7zXZ\0")) if name == "my.deb" else b"\x1f\x8b\x08\0"
    (folder / name).write_bytes(content)
    (tmp_path / "my.whl").write_bytes(zipped(("clean.so", CLEAN.read_bytes()), (name, content)))
    for thing in (folder, folder / name, tmp_path / "my.whl"):
        result = inspect(tmp_path, thing)
        assert result.returncode == 2, result.stdout
        assert "it is packed, and is not looked into; unpack it" in " ".join(result.stdout.split())


def test_names_are_text_in_commands_and_sentences(tmp_path):
    shutil.copy(SPILLS, tmp_path / "\x1b[31mk.cubin")
    (tmp_path / "b.toml").write_text('["\\u001b[31m"]\nregisters = 1\n')
    result = inspect(tmp_path, "--budgets", tmp_path / "b.toml", tmp_path / "\x1b[31mk.cubin")
    assert result.returncode == 1
    assert "\\u001b" not in (tmp_path / "out" / "results.json").read_text()
    command = re.search("repeat +warpgauge (.*)", result.stdout)[1]
    words = ["bash", "-c", f"{GAUGE} {command}"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 1


@pytest.mark.parametrize("target", ["\x1b[31m", "sm_90 \x1b", "--help", "sm_", "compute_90"])
def test_the_target_of_ptx_is_an_architecture(target, tmp_path):
    (tmp_path / "k.ptx").write_text(f".version 9.0\n.target {target}\n.visible .entry k() {{ret;}}")
    result = inspect(tmp_path, tmp_path / "k.ptx")
    assert result.returncode == 2
    assert "\x1b" not in result.stdout + result.stderr
    assert "\\u001b" not in (tmp_path / "out" / "results.json").read_text()


def test_control_characters_of_a_log_reach_nothing(tmp_path):
    text = (DATA / "ptxas" / "log-threads.txt").read_text()
    (tmp_path / "build.log").write_text(text.replace("swap_neighbours", "swap\x9b31m"))
    result = inspect(tmp_path, tmp_path / "build.log")
    assert result.returncode == 2
    for file in [*(tmp_path / "out").iterdir()]:
        assert "\x9b" not in file.read_text() + result.stdout


def test_the_folder_of_results_is_printed_as_text(tmp_path):
    command = [GAUGE, "inspect", "--out", tmp_path / "a\x1b[31m", SPILLS]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "\x1b" not in result.stdout + result.stderr
    assert "/summary.md\n" in result.stdout
