#!/usr/bin/env python3
"""Fetches the projects of projects.toml and keeps of each what people wrote for people.

    fetch_projects.py --out DIR [--update]

Fills `out/npm/NAME` and `out/sdist/NAME` with README, changelog, guides and rule descriptions of each project, at the
version that projects.toml names. With `--update` the newest version is taken and projects.toml is written anew with
version and licence; a project whose own metadata does not state a permissive licence is left out then, and said so.

Of npm and pip only their address books are used: pip cannot fetch a source archive without building it, and starting
npm for each package takes longer than the packages do.
"""
import argparse
import functools
import io
import json
import os
import re
import subprocess
import tarfile
import tomllib
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from pip._internal.models.index import PyPI
from pip._vendor.packaging.version import InvalidVersion, Version

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECTS = os.path.join(HERE, "projects.toml")
WANTED = re.compile(
    r"\.(md|mdx|rst|markdown)$|(^|/)(news|changes|changelog|history|readme|faq|upgrading|updating)[^/]*\.txt$"
    r"|releasenotes/notes/[^/]+\.yaml$|ruff_linter/src/rules/.*\.rs$|generated/api\.github\.com\.json$", re.I)
UNWANTED = re.compile(
    r"/(node_modules|vendor|vendored|_vendor|third[_-]party|fixtures?|testdata|locales?|i18n|translations|snapshots|resources/test)/"
    r"|licen[cs]e|copying|authors|contributors|code.of.conduct", re.I)
PERMISSIVE = re.compile(
    r"\b(MIT(-0)?|ISC|BSD|0BSD|Apache|Unlicense|CC0|PSF|Python Software Foundation|PostgreSQL|Zlib|public domain)\b", re.I)
COPYLEFT = re.compile(r"GPL|MPL|Mozilla|EUPL|CDDL|share.?alike|CC.BY|commercial|proprietary|BUSL|FSL|SSPL|Elastic", re.I)


def unpack(data, folder):
    """Writes the wanted files of an archive; -> the metadata file of the package, if it has one."""
    metadata = ""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            path = os.path.normpath(member.name).split("/", 1)[-1]
            if not member.isfile() or member.size > 14_000_000 or path.startswith(("..", "/")):
                continue
            if path in ("package.json", "PKG-INFO"):
                metadata = archive.extractfile(member).read().decode("utf-8", "replace")
            elif WANTED.search(path) and not UNWANTED.search("/" + path):
                target = os.path.join(folder, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(archive.extractfile(member).read())
    return metadata


# ------------------------------------------------------------------ npm
@functools.cache
def npm_registry():
    asked = subprocess.run(["npm", "config", "get", "registry"], check=True, capture_output=True, text=True, timeout=120)
    return asked.stdout.strip().rstrip("/")


def npm(name, version):
    address = f"{npm_registry()}/{urllib.parse.quote(name, safe='@')}/{version or 'latest'}"
    stated = json.load(urllib.request.urlopen(address, timeout=60))
    return urllib.request.urlopen(stated["dist"]["tarball"], timeout=180).read()


def npm_facts(metadata):
    stated = json.loads(metadata)
    licence = stated.get("license") or ""
    return stated["version"], licence.get("type", "") if isinstance(licence, dict) else licence


# ------------------------------------------------------------------ source archives of Python
def archive_version(link):
    try:
        return Version(re.search(r"-([^-/]+)\.tar\.gz$", link)[1])
    except (InvalidVersion, TypeError):
        return Version("0.dev0")


def sdist(name, version):
    index = f"{PyPI.simple_url}/{name.lower()}/"
    page = urllib.request.urlopen(index, timeout=60).read().decode()
    links = [urllib.parse.urljoin(index, link) for link in re.findall(r'href="([^"#]+\.tar\.gz)[#"]', page)]
    finished = [link for link in links if not archive_version(link).is_prerelease]
    wanted = [link for link in links if archive_version(link) == Version(version)] if version else finished
    return urllib.request.urlopen(max(wanted, key=archive_version), timeout=180).read()


def sdist_facts(metadata):
    """Version and licence; a whole licence text in the field is cut to its first line."""
    field = lambda name: (re.search(rf"^{name}: (.*)", metadata, re.M | re.I) or ["", ""])[1].strip()
    classes = [c.split("::")[-1].strip() for c in re.findall(r"^Classifier: (License ::.*)", metadata, re.M)]
    return field("Version"), field("License-Expression") or ", ".join(classes) or field("License")[:60]


# ------------------------------------------------------------------ all of them
WAYS = {"npm": (npm, npm_facts), "sdist": (sdist, sdist_facts)}


def fetch(job):
    """-> (way, name, version, licence) of one project, or None where it cannot be used."""
    way, name, version, licence, folder = job
    get, facts = WAYS[way]
    target = os.path.join(folder, way, name.replace("/", "+"))
    try:
        if not os.path.exists(target + ".json"):
            metadata = unpack(get(name, version), target)
            with open(target + ".json", "w") as file:
                json.dump(facts(metadata), file)
        with open(target + ".json") as file:
            version, stated = json.load(file)
    except Exception as error:  # one project less is no loss, but it is said
        print(f"{way} {name}: {type(error).__name__} {error}", flush=True)
        return None
    licence = licence or stated
    if not PERMISSIVE.search(licence) or COPYLEFT.search(licence):
        print(f"{way} {name}: left out, licence «{licence}»", flush=True)
        return None
    return way, name, version, licence


def projects():
    with open(PROJECTS, "rb") as file:
        return tomllib.load(file)


def write_projects(found):
    with open(PROJECTS, encoding="utf-8") as file:
        head = file.read().split("\n[", 1)[0]
    with open(PROJECTS, "w", encoding="utf-8") as file:
        file.write(head + "\n")
        for way in WAYS:
            file.write(f"\n[{way}]\n")
            for _, name, version, licence in sorted(row for row in found if row[0] == way):
                file.write(f'"{name}" = {{ version = "{version}", licence = "{licence}" }}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--update", action="store_true", help="take the newest versions and write projects.toml anew")
    args = parser.parse_args()
    for way in WAYS:
        os.makedirs(os.path.join(args.out, way), exist_ok=True)
    jobs = [
        (way, name, "" if args.update else facts["version"], "" if args.update else facts["licence"], args.out)
        for way, listed in projects().items() for name, facts in listed.items()
    ]
    with ThreadPoolExecutor(6) as executor:
        found = [row for row in executor.map(fetch, jobs) if row]
    print(f"{len(found)} of {len(jobs)} projects")
    if args.update:
        write_projects(found)


if __name__ == "__main__":
    main()
