"""Two accidents that come by themselves: a full disk, and a limit on the size of a file."""

import shutil
import subprocess
from pathlib import Path

from sandbox import Sandbox, page_problems, record_problems

BALLAST = 64 * 1024
FULL_DISKS = {"256 KiB": "size=256k", "no inodes": "size=64m,nr_inodes=150"}
SIZE_STEP = 997


def full_disk(binary, base, options):
    """Saves until the disk is full, frees a little, and wants everything acknowledged back."""
    mount_point = Path(base) / "full-disk"
    mount_point.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", mount_point], check=True)
    try:
        return fill_and_recover(Sandbox(binary, mount_point))
    finally:
        subprocess.run(["umount", mount_point], check=True)


def fill_and_recover(sandbox):
    sandbox.create()
    ballast = sandbox.root / "ballast"
    ballast.mkdir()
    for n in range(16):  # many files, so that inodes come free as well
        (ballast / str(n)).write_bytes(b"x" * (BALLAST // 16))

    acked, refusals = {}, []
    while len(refusals) < 3 and len(acked) < 500:
        n = len(acked) + len(refusals)
        body = f"Ledger page {n} of the salt works. godwit{n}\n" + f"{n} sacks were weighed twice.\n" * 40
        saved = sandbox.save(f"reference-page-{n}", body)
        if saved.acked:
            acked[f"reference-page-{n}"] = f"godwit{n}"
        else:
            refusals.append(saved)

    problems = []
    if len(refusals) < 3:
        problems.append("the disk never filled up")
    problems += [f"full disk: {r}" for r in refusals if r.code != 2 or str(sandbox.root) not in r.err]
    problems += missing_memories(sandbox, acked)

    shutil.rmtree(ballast)
    rescued = sandbox.save("reference-rescued", "There is room again. avocet\n")
    if not rescued.acked:
        return problems + [f"with 64 KiB free the next save fails: {rescued}"]
    acked["reference-rescued"] = "avocet"
    problems += missing_memories(sandbox, acked) + page_problems(sandbox) + record_problems(sandbox)
    problems += [f"{path} is left over" for path in sandbox.temp_files()]
    problems += [f"search {word} does not find {name}" for name, word in acked.items() if name not in (sandbox.found(word) or [])]
    doctor = sandbox.memdir("doctor", "--json")
    if not doctor.acked:
        problems.append(f"doctor: {doctor} {doctor.out.strip()[:300]}")
    return problems


def missing_memories(sandbox, acked):
    memories = sandbox.memories()
    lost = [name for name, word in acked.items() if word.encode() not in memories.get(f"{name}.md", b"")]
    return [f"{name} was acknowledged and is not there" for name in lost]


def size_points(binary, ground):
    """The limits to try: up to the largest file that an unlimited save writes."""
    sandbox = prepared(binary, ground)
    saved = big_save(sandbox, ())
    if not saved.acked:
        raise RuntimeError(f"save without a limit: {saved}")
    largest = max(path.stat().st_size for path in sandbox.root.rglob("*") if path.is_file())
    return range(1, largest + SIZE_STEP, SIZE_STEP)


def short_write(binary, ground, size, ignore_signal):
    """Saves over a memory while no file may grow beyond `size` bytes: an error or the whole, never a part."""
    sandbox = prepared(binary, ground)
    before = sandbox.memories()
    saved = big_save(sandbox, ("prlimit", f"--fsize={size}"), ignore_signal)
    problems = []
    if ignore_signal and saved.code not in (0, 2):
        problems.append(f"died instead of reporting: {saved}")
    if ignore_signal and saved.code == 2 and str(sandbox.root) not in saved.err:
        problems.append(f"the message names no file: {saved}")
    text = sandbox.memories().get("reference-big.md")
    is_new = text is not None and text != before["reference-big.md"]
    if is_new and not text.endswith(b"The end. curlew\n"):
        problems.append(f"reference-big.md is cut at {len(text)} bytes")
    if saved.acked and not is_new:
        problems.append("acknowledged, but not there")

    repaired = sandbox.save("reference-afterwards", "Written after the accident. spoonbill\n")
    if not repaired.acked:
        return problems + [f"the next save: {repaired}"]
    wanted = "curlew" if is_new else "knot"
    if "reference-big" not in (sandbox.found(wanted) or []):
        problems.append(f"search {wanted} does not find reference-big")
    problems += [f"{path} is left over" for path in sandbox.temp_files()]
    return problems + page_problems(sandbox) + record_problems(sandbox)


def prepared(binary, ground):
    ground.clear()
    sandbox = Sandbox(binary, ground.root)
    sandbox.create()
    saved = sandbox.save("reference-big", "Small as yet. knot\n")
    if not saved.acked:
        raise RuntimeError(f"could not prepare: {saved}")
    return sandbox


def big_save(sandbox, wrapper, ignore_signal=False):
    body = "".join(f"Row {n} of the tide table, {n * 7919 % 9973} mm.\n" for n in range(500)) + "The end. curlew\n"
    return sandbox.save("reference-big", body, wrapper=wrapper, ignore_size_signal=ignore_signal)
