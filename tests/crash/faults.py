"""The accidents: a kill, a system call that fails, a power cut.

A fault finds out where it can strike (`points`) and strikes there, one point at a time (`strike`). Where the files
live meanwhile is a *ground*: a plain directory that is copied back for each point, or a file system image whose power
can be cut.
"""

import fcntl
import os
import re
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

ERRNOS = ("ENOSPC", "EIO", "EMFILE", "EROFS", "EDQUOT")
# Each call is swept by itself, because strace counts per call. Names an architecture lacks are marked `?`.
CHANGING_CALLS = (
    "openat openat2 write pwrite64 writev fsync fdatasync rename renameat renameat2 link linkat unlink unlinkat "
    "mkdir mkdirat ftruncate flock fchmod"
).split()
# A disk that cannot be read must not look like an empty vault.
READING_CALLS = "read pread64 getdents64 statx newfstatat fstat".split()

FS_IOC_SHUTDOWN = 0x8004587D
SHUTDOWN_WITHOUT_LOG_FLUSH = struct.pack("I", 2)
# `noauto_da_alloc`: ext4 must not repair a missing fsync before a rename for us.
MOUNT_OPTIONS = {"ext4": "loop,noauto_da_alloc", "xfs": "loop"}
MAKE_FS = {"ext4": ["mkfs.ext4", "-F", "-q"], "xfs": ["mkfs.xfs", "-q"]}
IMAGE_SIZE = 320 * 1024 * 1024  # sparse; xfs wants at least 300 MiB


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class PlainGround:
    """A directory; the state to start from is a copy beside it."""

    def __init__(self, base):
        self.root, self.kept = Path(base) / "live", Path(base) / "kept"

    def clear(self):
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(mode=0o700)

    def keep(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.root, self.kept, symlinks=True)

    def restore(self):
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root, symlinks=True)

    def cut_power(self):
        pass

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.kept, ignore_errors=True)


class PoweredGround:
    """A loop-mounted image; only what was synced is there after a power cut."""

    def __init__(self, base, file_system):
        self.file_system = file_system
        self.mount_point = Path(base) / f"mnt-{file_system}"
        self.image, self.blank, self.kept = (Path(base) / f"{file_system}.{kind}" for kind in ("live", "blank", "kept"))
        self.root = self.mount_point / "live"
        self.is_mounted = False  # remembered: a file system without power answers no question
        self.mount_point.mkdir()
        with open(self.blank, "wb") as image:
            image.truncate(IMAGE_SIZE)
        run(*MAKE_FS[file_system], self.blank)

    def clear(self):
        self._start_from(self.blank)
        self.root.mkdir(mode=0o700)

    def keep(self):
        self._unmount()
        copy_sparse(self.image, self.kept)
        self._mount()

    def restore(self):
        self._start_from(self.kept)

    def cut_power(self):
        mounted = os.open(self.mount_point, os.O_RDONLY)
        fcntl.ioctl(mounted, FS_IOC_SHUTDOWN, SHUTDOWN_WITHOUT_LOG_FLUSH)
        os.close(mounted)
        self._unmount()
        self._mount()

    def close(self):
        self._unmount()
        for path in (self.image, self.blank, self.kept):
            path.unlink(missing_ok=True)
        self.mount_point.rmdir()

    def _start_from(self, image):
        self._unmount()
        copy_sparse(image, self.image)
        self._mount()

    def _mount(self):
        run("mount", "-t", self.file_system, "-o", MOUNT_OPTIONS[self.file_system], self.image, self.mount_point)
        self.is_mounted = True

    def _unmount(self):
        if self.is_mounted:
            run("umount", self.mount_point)
        self.is_mounted = False


def copy_sparse(source, target):
    run("cp", "--sparse=always", "--reflink=auto", source, target)


class Kill:
    """SIGKILL at every call that changes a file, or at an even sample of them."""

    def __init__(self, killat, limit=None):
        self.killat, self.limit = killat, limit

    def points(self, sandbox, scenario):
        counted = scenario.run(sandbox, wrapper=(self.killat, "0"))
        total = int(re.search(r"killat: points=(\d+)", counted.err)[1])
        # Unharmed is a point, too: a power cut right after the command was acknowledged.
        points = [(f"point {n} of {total}", n) for n in range(1, total + 1)]
        return thin_out(points, self.limit) + [("unharmed", 0)]

    def strike(self, sandbox, scenario, n):
        result = scenario.run(sandbox, wrapper=(self.killat, str(n)))
        call = re.search(r"killat: killed at \d+ (\w+)", result.err)
        return result, call[1] if call else "not killed", []


class Errno:
    """An error from one call at a time."""

    def __init__(self, work, limit=None):
        self.log, self.limit = Path(work) / "strace.log", limit

    def points(self, sandbox, scenario):
        scenario.run(sandbox, wrapper=self._strace(CHANGING_CALLS + READING_CALLS))
        calls = numbered_calls(self.log.read_text(errors="replace"), str(sandbox.root))
        points = [
            (f"{call} {n} {errno}", (call, n, errno))
            for call, n in calls
            for errno in (ERRNOS if call in CHANGING_CALLS else ("EIO",))
        ]
        sample = thin_out(points, self.limit)
        # Some calls are made once or twice: each meets each of its errors at least once.
        met = {(call, errno) for _, (call, _, errno) in sample}
        for label, (call, n, errno) in points:
            if (call, errno) not in met:
                met.add((call, errno))
                sample.append((label, (call, n, errno)))
        return sample

    def strike(self, sandbox, scenario, point):
        call, n, errno = point
        inject = ("-e", f"inject={call}:error={errno}:when={n}")
        result = scenario.run(sandbox, wrapper=self._strace([call], *inject))
        injected = next((line for line in self.log.read_text(errors="replace").splitlines() if "(INJECTED)" in line), "")
        # A run may make fewer calls than the one that was counted; then nothing was struck, and all must be well.
        detail = (injected.split(maxsplit=1) or ["nothing was struck"])[-1][:120]
        return result, detail, self._manners(sandbox, result, call, injected)

    def _manners(self, sandbox, result, call, injected):
        """What a command that was told no owes its caller: the name of the file, and no litter."""
        problems = []
        could_speak = not re.search(r"write\w*\(2<", injected)
        names_file = str(sandbox.root) in result.err or re.search(r"\.md\b|standard (in|out)put|the answer", result.err)
        if not result.acked and could_speak and not names_file:
            problems.append(f"the message names no file: {result}")
        if result.code >= 128 or "panicked" in result.err:
            problems.append(f"died instead of reporting: {result}")
        if "unlink" not in call:
            problems += [f"{path} is left though it could be removed" for path in sandbox.temp_files()]
        return problems

    def _strace(self, calls, *options):
        traced = ",".join(f"?{call}" for call in calls)
        return ("strace", "-f", "-qq", "-y", "-s", "256", "--seccomp-bpf", "-e", f"trace={traced}", *options, "-o", self.log)


def numbered_calls(log, root):
    """The calls on our own files and pipes as (name, number), numbered the way strace's `when=` counts them."""
    seen, ours = Counter(), set()
    for thread, call, arguments in re.findall(r"^(\d+) +(\w+)\((.*)", log, re.MULTILINE):
        seen[thread, call] += 1
        # The working directory is below the root, too; what the loader opens by an absolute path is not ours.
        arguments = re.sub(r"AT_FDCWD<[^>]*>, (?=\"/)", "", arguments)
        if root in arguments or re.match(r"[012]<", arguments):
            ours.add((call, seen[thread, call]))
    return sorted(ours)


def thin_out(points, limit):
    """Keeps about `limit` points, evenly spread, if there are more."""
    if limit is None or len(points) <= limit:
        return points
    stride = -(-len(points) // limit)
    # Errors come in groups of five: a stride of five would always take the same one.
    stride += stride % 5 == 0
    return points[::stride]
