#!/usr/bin/env python3
"""Reads pairs of an English text and its translation out of packages: read.py PACKAGES OUT

PACKAGES holds what fetch.sh brought; OUT gets one file a language, lines `source<TAB>english<TAB>foreign`, each pair once.
A package holds its texts in one of few forms, and each form is a function here, named by `way` in sources.toml."""

import html
import io
import json
import re
import struct
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

LOCALES = {
    "german": ["de", "de-de"],
    "french": ["fr", "fr-fr"],
    "spanish": ["es", "es-es"],
    "japanese": ["ja", "ja-jp"],
    "korean": ["ko", "ko-kr"],
    "chinese": ["zh", "zh-cn", "zh-hans", "zh-hans-cn"],
}
ENGLISH = ["en", "en-us", "en-en"]
LANGUAGE_OF = {code: language for language, codes in LOCALES.items() for code in codes} | {code: "english" for code in ENGLISH}


def files(package):
    """Yields (path, bytes) of every file of a package, jars opened."""
    if package.is_dir():
        for path in sorted(package.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            if path.suffix == ".jar":
                yield from zipped(zipfile.ZipFile(path))
            elif re.search(r"\.(mo|po|pak|properties|ya?ml)$", path.name):
                yield str(path.relative_to(package)), path.read_bytes()
    elif package.suffix == ".whl":
        yield from zipped(zipfile.ZipFile(package))
    else:
        with tarfile.open(package) as archive:
            for member in archive:
                if member.isfile() and re.search(r"\.(json|js|mjs|po|properties|html)$", member.name):
                    yield member.name, archive.extractfile(member).read()


def zipped(archive):
    for name in archive.namelist():
        if re.search(r"\.(json|po|mo|properties|ya?ml)$", name):
            yield name, archive.read(name)


def locale_in(path):
    """Returns (language, path with the locale replaced by a star) where a part of the path names one of ours."""
    parts = path.split("/")
    for at in range(len(parts) - 1, -1, -1):
        part = parts[at]
        found = re.search(r"(?:^|[_.])((?:en|de|fr|es|ja|ko|zh)(?:[-_][A-Za-z]{2,4})*?)(-[0-9a-f]{20,})?(\.[a-z.]+)?$", part)
        if not found:
            continue
        language = LANGUAGE_OF.get(found[1].lower().replace("_", "-"))
        if language:
            starred = part[: found.start(1)] + "*" + (found[3] or "")
            return language, "/".join(parts[:at] + [starred] + parts[at + 1 :])
    return None, path


def flat(tree, prefix=""):
    """Yields the strings of a tree with the path of each; `{other {…}}` of plurals and the like is left as it is."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            # Scratch, Lighthouse and others keep a text beside notes for translators.
            if "message" in tree and key != "message":
                continue
            yield from flat(value, f"{prefix}/{key}")
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from flat(value, f"{prefix}/{at}")
    elif isinstance(tree, str):
        yield prefix, tree


def by_key(tables):
    """Pairs tables {(language, group): {key: text}} by group and key."""
    for (language, group), table in tables.items():
        english = tables.get(("english", group))
        if language == "english" or english is None:
            continue
        for key, text in table.items():
            if key in english:
                yield language, english[key], text


def trees(packages):
    tables = {}
    for package in packages:
        for path, data in files(package):
            if not path.endswith(".json"):
                continue
            language, group = locale_in(path)
            if language is None or "package.json" in path or ".min." in path:
                continue
            try:
                tree = json.loads(data)
            except ValueError:
                continue
            if isinstance(tree, dict) and len(tree) == 1:
                (root, inner), = tree.items()
                tree = inner if root.lower().replace("_", "-") in LANGUAGE_OF else tree
            # Lists of synonyms are in no common order.
            table = {key: text for key, text in flat(tree) if not re.search(r"/(terms|aliases)$", key)}
            tables.setdefault((language, group), {}).update(table)
    yield from by_key(tables)


def properties(packages):
    tables = {}
    for package in packages:
        for path, data in files(package):
            if not path.endswith(".properties"):
                continue
            language, group = locale_in(path)
            if language is None:
                group = path.removesuffix(".properties") + "_*.properties"
                language = "english"
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError:
                text = data.decode("latin-1")
            text = re.sub(r"\\\r?\n\s*", "", text)
            table = {}
            for line in text.splitlines():
                found = re.match(r"\s*([^#!=:\s][^=:\s]*)\s*[=:]\s*(.*)", line)
                if found:
                    unicode = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), found[2])
                    table[found[1]] = re.sub(r"\\(.)", r" ", unicode)
            tables.setdefault((language, group), {}).update(table)
    yield from by_key(tables)


def gettext(packages):
    for package in packages:
        seen = set()
        for path, data in files(package):
            if not path.endswith((".po", ".mo")):
                continue
            language, _ = locale_in(re.sub(r"/LC_MESSAGES/.*", "", path).replace(".po", "")) 
            if language in (None, "english"):
                continue
            stem = path[:-3]
            if stem in seen:
                continue
            seen.add(stem)
            pairs = po(data.decode("utf-8", "replace")) if path.endswith(".po") else mo(data)
            for english, foreign in pairs:
                yield language, english, foreign


def po(text):
    """Yields (msgid, msgstr) of a .po, fuzzy ones left out."""
    for block in re.split(r"\n\s*\n", text):
        if "#, fuzzy" in block or re.search(r"^#,.*fuzzy", block, re.M):
            continue
        fields, last = {}, None
        for line in block.splitlines():
            found = re.match(r'(msgid|msgid_plural|msgstr|msgstr\[\d\]|msgctxt)\s+"(.*)"\s*$', line)
            if found:
                last = found[1]
                fields[last] = unescape(found[2])
            elif last and (found := re.match(r'\s*"(.*)"\s*$', line)):
                fields[last] += unescape(found[1])
        english = fields.get("msgid")
        foreign = fields.get("msgstr") or fields.get("msgstr[0]")
        if english and foreign:
            yield english, foreign


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": " ", "t": " "}.get(m[1], m[1]), text)


def mo(data):
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    n, originals, translations = struct.unpack(order + "8x3I", data[:20])
    for at in range(n):
        length, start = struct.unpack_from(order + "2I", data, originals + 8 * at)
        english = data[start : start + length].split(b"\0")[0].split(b"\x04")[-1]
        length, start = struct.unpack_from(order + "2I", data, translations + 8 * at)
        foreign = data[start : start + length].split(b"\0")[0]
        if english:
            yield english.decode("utf-8", "replace"), foreign.decode("utf-8", "replace")


def pak(packages):
    """Resources of Chromium, version 5: a table of ids and offsets, then the texts."""
    tables = {}
    for package in packages:
        for path, data in files(package):
            name = Path(path).name
            if not name.endswith(".pak"):
                continue
            # The package of translations has British English, and no American.
            language = "english" if name == "en-GB.pak" else locale_in(name)[0]
            if language is None or "_" in name:
                continue
            version, encoding, n, _ = struct.unpack_from("<IB3xHH", data)
            if version != 5 or encoding != 1:
                continue
            rows = [struct.unpack_from("<HI", data, 12 + 6 * at) for at in range(n + 1)]
            table = {}
            for (number, start), (_, end) in zip(rows, rows[1:]):
                try:
                    table[number] = data[start:end].decode("utf-8")
                except UnicodeDecodeError:
                    pass
            tables[(language, "chromium")] = table
    yield from by_key(tables)


def typescript(packages):
    english, others = {}, {}
    for package in packages:
        for path, data in files(package):
            if path.endswith("lib/typescript.js"):
                found = re.findall(r'diag\(\d+, \d [^"]*"([^"]+)", ("(?:[^"\\]|\\.)*")', data.decode("utf-8"))
                english = {key: json.loads(text) for key, text in found}
            elif path.endswith("diagnosticMessages.generated.json"):
                language, _ = locale_in(path.rsplit("/", 1)[0])
                if language:
                    others[language] = json.loads(data)
    for language, table in others.items():
        for key, text in table.items():
            if key in english:
                yield language, english[key], text


def vscode(packages):
    """The language packs hold JavaScript objects by module and key; the English of each is in code-server."""
    english, extensions = {}, {}
    names = messages = None
    for path, data in files(packages[0]):
        if path.endswith("out/nls.keys.json"):
            names = json.loads(data)
        elif path.endswith("out/nls.messages.json"):
            messages = json.loads(data)
        elif found := re.search(r"extensions/([^/]+)/package.nls.json$", path):
            try:
                extensions[found[1]] = json.loads(data)
            except ValueError:
                pass
    at = 0
    for module, keys in names:
        for key in keys:
            english[(module, key)] = messages[at]
            at += 1
    for package in packages[1:]:
        language = LANGUAGE_OF[re.search(r"language-pack-([a-z-]+?)-\d", package.name)[1]]
        for path, data in files(package):
            if path.endswith("main.i18n.json.js"):
                script = data.decode("utf-8")
                script = script[script.index("{") : script.rindex("}") + 1]
                script = script.split("\n};")[0].rstrip(";") + ("\n}" if "\n};" in script else "")
                run = subprocess.run(["node", "-e", f"process.stdout.write(JSON.stringify({script}))"] if len(script) < 100_000 else ["node", "-"], input=f"process.stdout.write(JSON.stringify({script}))", capture_output=True, text=True)
                for module, table in json.loads(run.stdout).items():
                    for key, text in table.items():
                        if (module, key) in english:
                            yield language, english[(module, key)], text
            elif found := re.search(r"extensions/(?:vscode|ms-vscode)\.(.+)\.i18n\.json", path):
                try:
                    contents = json.loads(data).get("contents", {})
                except ValueError:
                    continue
                for key, text in contents.get("bundle", {}).items():
                    yield language, key.rsplit("/", 1)[0] if key.endswith("]") else key, text
                for key, text in contents.get("package", {}).items():
                    source = extensions.get(found[1], {}).get(key)
                    source = source.get("message") if isinstance(source, dict) else source
                    if source:
                        yield language, source, text


def annotations(packages):
    """Names of characters and emoji: the spoken name in both languages, and keywords where both have one."""
    tables = {}
    for package in packages:
        for path, data in files(package):
            found = re.search(r"annotations/([A-Za-z-]+)/annotations.json", path)
            if found and found[1].lower() in LANGUAGE_OF:
                table = json.loads(data)["annotations"]["annotations"]
                tables[LANGUAGE_OF[found[1].lower()]] = table
    for language, table in tables.items():
        if language == "english":
            continue
        for sign, row in table.items():
            source = tables["english"].get(sign)
            if source and "tts" in row and "tts" in source:
                yield language, source["tts"][0], row["tts"][0]
            if source and row.get("default") and source.get("default"):
                yield language, " ".join(source["default"][:6]), " ".join(row["default"][:6])


def electron(packages):
    """Documentation in HTML: where two versions have the same blocks in the same order, block by block."""
    for package in packages:
        for path, data in files(package):
            if not path.endswith("dist/docs.json"):
                continue
            docs = json.loads(data)
            for locale, pages in docs.items():
                language = LANGUAGE_OF.get(locale.lower())
                if language in (None, "english"):
                    continue
                for href, page in pages.items():
                    source = docs["en-US"].get(href)
                    if not source or not source.get("html") or not page.get("html"):
                        continue
                    ours, theirs = blocks(source["html"]), blocks(page["html"])
                    if [tag for tag, _ in ours] == [tag for tag, _ in theirs]:
                        for (_, english), (_, foreign) in zip(ours, theirs):
                            yield language, english, foreign


def blocks(page):
    page = re.sub(r"<pre>.*?</pre>", "", page, flags=re.S)
    found = re.findall(r"<(p|li|h[1-6]|td|th)\b[^>]*>(.*?)</\1>", page, re.S)
    return [(tag, re.sub(r"<code>.*?</code>", " ", text)) for tag, text in found]


def clean(text):
    """Takes marks, places for values and tags out of a text."""
    text = html.unescape(re.sub(r"<[^>]{1,200}>", " ", text))
    text = re.sub(r"\{[^{}]*\}|%\(\w+\)[sd]|%[-#0-9.$]*l*[a-zA-Z](?![a-z])|\$\w+|`[^`]*`|https?://\S+|[\w./-]+@[\w.-]+", " ", text)
    text = re.sub(r"(?<=\w)&(?=\w)|&(?=\w)|_(?=\w)", "", text)
    return re.sub(r"\s+", " ", text).strip()


def main():
    packages, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    sources = tomllib.loads(Path(__file__).with_name("sources.toml").read_text())
    found, counts = {language: {} for language in LOCALES}, {}
    for name, source in sources.items():
        places = []
        for package in source["packages"]:
            place = packages / source["kind"] / re.sub(r"[@/=]+", "-", package).strip("-")
            place = next((p for p in (place, place.with_name(place.name + ".tgz")) if p.exists()), None) or local(packages, source["kind"], package)
            if place is None:
                print("missing", package, file=sys.stderr)
            else:
                places.append(place)
        for language, english, foreign in globals()[source["way"]](places):
            english, foreign = clean(english), clean(foreign)
            if not english or not foreign or english.lower() == foreign.lower() or len(english) > 600:
                continue
            if found[language].setdefault((english, foreign), name) == name:
                counts[(name, language)] = counts.get((name, language), 0) + 1
        print(f"{name:15}", {language[:2]: counts.get((name, language), 0) for language in LOCALES}, flush=True)
    for language, pairs in found.items():
        lines = [f"{name}\t{english}\t{foreign}\n" for (english, foreign), name in pairs.items()]
        (out / f"{language}.tsv").write_text("".join(lines))
        print(language, len(lines))


def local(packages, kind, package):
    """Finds a package under the name that its own tool gave the file."""
    name, version = re.match(r"(@?[^@=]+)[@=]+(.*)", package).groups()
    folder = packages / kind
    if kind == "apt":
        return next(iter(folder.glob(name)), None)
    plain = re.sub(r"[-_.]+", "_", name).lower() if kind == "pip" else name.strip("@").replace("/", "-")
    for path in folder.iterdir():
        start = path.name.lower() if kind == "pip" else path.name
        if start.startswith(f"{plain}-{version}".lower() if kind == "pip" else f"{plain}-{version}.tgz"):
            return path
    return None


if __name__ == "__main__":
    main()
