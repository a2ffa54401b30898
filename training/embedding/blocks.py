"""Cuts documentation files into blocks: headings, paragraphs and code.

A block is a pair `(kind, text)` with kind "heading", "prose" or "code". One reader per file format; all of them
answer with what they could read and never raise on odd input.
"""
import gzip
import re

from lxml import html as lxml_html

SPACE = re.compile(r"\s+")
NAVIGATION = re.compile(r"\b(sphinx)?sidebar|\btoc|navheader|navfooter|headerlink|related|breadcrumb|menu|footer")
BLOCK_TAGS = {"h1", "h2", "h3", "h4", "h5", "dt", "p", "li", "dd", "pre"}
CONTAINERS = {"p", "ul", "ol", "dl", "pre", "div", "table"}


def squeeze(text):
    """One line, single blanks, without the marks that documentation tools put behind headings."""
    return SPACE.sub(" ", text.replace("\u00b6", "").replace("\u200b", "").replace("\uf0c1", "")).strip()


def read(path):
    """The text of a file, unpacked if it is a .gz."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


# ------------------------------------------------------------------ HTML
def is_furniture(element):
    """Says whether an element is page furniture: menus, scripts, links to the next page."""
    if element.tag in ("script", "style", "nav", "header", "footer"):
        return True
    return element.get("role") == "navigation" or bool(NAVIGATION.search(element.get("class") or ""))


def drop_furniture(root):
    for element in [e for e in root.iter() if isinstance(e.tag, str) and is_furniture(e)]:
        if element.getparent() is not None and element.tag not in ("body", "html"):
            element.drop_tree()


def from_html(text):
    try:
        root = lxml_html.fromstring(text.encode("utf-8", "replace"))
    except Exception:  # lxml has many ways to dislike a page; a page less is no loss
        return []
    drop_furniture(root)
    blocks = []
    for element in root.iter():
        if not isinstance(element.tag, str) or element.tag not in BLOCK_TAGS:
            continue
        if element.tag in ("li", "dd") and any(child.tag in CONTAINERS for child in element):
            continue  # its parts come by themselves
        content = element.text_content()
        if element.tag == "pre":
            blocks.append(("code", content.strip()))
        elif squeeze(content):
            kind = "heading" if element.tag[0] == "h" or element.tag == "dt" else "prose"
            blocks.append((kind, squeeze(content)))
    return blocks


# ------------------------------------------------------------------ Markdown
def plain_markdown(text):
    """Markdown of one paragraph without its markup."""
    for pattern, with_what in (
        (r"\{\{.*?\}\}|\{%.*?%\}", " "),
        (r"!\[[^\]]*\]\([^)]*\)", " "),
        (r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1"),
        (r"<[^>\n]{1,200}>", " "),
        (r"\*\*|__|`", ""),
    ):
        text = re.sub(pattern, with_what, text)
    return squeeze(text)


def from_markdown(text):
    text = re.sub(r"\A---\n.*?\n---\n|<!--.*?-->", "", text, flags=re.S)
    blocks = []
    for part in re.split(r"(^```.*?^```\s*$)", text, flags=re.S | re.M):
        if part.startswith("```"):
            blocks.append(("code", "\n".join(part.split("\n")[1:-1]).strip()))
            continue
        for piece in re.split(r"\n\s*\n|\n(?=#{1,5} )|(?<=\n)(?=[-*+] |\d+\. )", part):
            blocks += markdown_piece(piece.strip())
    return blocks


def markdown_piece(piece):
    if not piece or piece.startswith("|"):
        return []
    heading = re.match(r"#{1,5}\s+(.*)", piece)
    if not heading:
        text = plain_markdown(re.sub(r"^([-*+>]|\d+\.)\s+", "", piece))
        return [("prose", text)] if text else []
    below = plain_markdown(piece[heading.end():])
    return [("heading", plain_markdown(heading[1]))] + ([("prose", below)] if below else [])


# ------------------------------------------------------------------ manual pages
ROFF = (
    (r"\\f[BIRPC]|\\f\(..|\\f\[.*?\]|\\[&/,|^]", ""),
    (r"\\\((?:aq|cq|oq)", "'"),
    (r"\\\(em", "-"),
    (r"\\-", "-"),
    (r"\\e", r"\\"),
    (r"\\\(..|\\\[.*?\]|\\\*\(..|\\s[-+]?\d", ""),
)


def without_roff(line):
    for pattern, with_what in ROFF:
        line = re.sub(pattern, with_what, line)
    return line


def from_manual(text):
    """Reads the `man` macros and, roughly, the `mdoc` ones of the BSDs."""
    blocks, words, code, in_code = [], [], [], False

    def flush():
        if words:
            blocks.append(("prose", squeeze(" ".join(words))))
            words.clear()

    for raw in text.split("\n"):
        line = without_roff(raw)
        macro = re.match(r"[.']\s*(\w+)\s*(.*)", line)
        name, rest = (macro[1], macro[2]) if macro else ("", line)
        if name in ("nf", "EX") or (name == "Bd" and "literal" in rest):
            flush()
            in_code, code = True, []
        elif name in ("fi", "EE", "Ed"):
            in_code = False
            if code:
                blocks.append(("code", "\n".join(code)))
        elif name in ("SH", "SS", "Sh", "Ss"):
            flush()
            blocks.append(("heading", squeeze(rest.strip('"')).capitalize()))
        elif in_code:
            code += [] if macro else [line]
        elif name in ("PP", "P", "LP", "TP", "IP", "HP", "sp", "RS", "RE", "br", "Pp", "It", "El", "Bl"):
            flush()
        elif name in ("B", "I", "Nm", "Ar", "Fl", "Pa", "Xr", "Va", "Fn", "Em", "Sy", "Dq", "Ql", "Cm", "Li", "Dv", "Nd"):
            words.append(rest.replace('"', ""))
        elif name in ("BR", "IR", "RB", "BI", "IB", "RI"):
            words.append("".join(a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', rest)))
        elif not macro and not line.startswith((".", "'")):
            words.append(line)
    flush()
    return [block for block in blocks if block[1]]


# ------------------------------------------------------------------ reStructuredText
UNDERLINE = re.compile(r"([=\-~^\"'`#*+:.<>_])\1{2,}\s*$")
SPOKEN = re.compile(r"\.\. (note|warning|tip|important|caution|attention|hint|seealso|versionadded|versionchanged|deprecated|danger)::\s*(.*)")


def plain_rst(text):
    """reStructuredText of one paragraph without its markup."""
    for pattern, with_what in (
        (r":[\w:+.-]+:`~?([^`<]*?)\s*(?:<[^`>]*>)?`", r"\1"),
        (r"`([^`<]*?)\s*<[^`>]*>`__?", r"\1"),
        (r"``?([^`]+)``?_{0,2}", r"\1"),
        (r"\*\*?([^*\n]+)\*\*?", r"\1"),
        (r"\|([^|\n]+)\|_?", r"\1"),
        (r"::\s*$", ":"),
        (r"\[[#\d*]+\]_", ""),
    ):
        text = re.sub(pattern, with_what, text)
    return squeeze(text)


def from_rst(text):
    blocks = []
    for piece in re.split(r"\n\s*\n", text.replace("\t", "    ")):
        lines = [line.rstrip() for line in piece.strip("\n").split("\n")]
        if lines and UNDERLINE.match(lines[0]) and len(lines) > 2:
            lines = lines[1:]  # a heading with a line above it
        if len(lines) >= 2 and UNDERLINE.match(lines[1]):
            blocks.append(("heading", plain_rst(lines[0])))
            lines = lines[2:]
        blocks += rst_piece(lines)
    return [block for block in blocks if block[1]]


def rst_piece(lines):
    if not lines:
        return []
    first, indent = lines[0].strip(), len(lines[0]) - len(lines[0].lstrip())
    spoken = SPOKEN.match(first)
    if spoken:
        said = "" if spoken[1].startswith(("version", "deprecated")) else spoken[2]
        lines = [said, *lines[1:]]
    elif first.startswith((".. ", "__", ":", ">>>", "$ ", "+--", "==", "|")) or (indent >= 4 and not re.match(r"[*+-] |\d+\. |[A-Z]", first)):
        return []
    whole = "\n".join(line.strip() for line in lines)
    items = re.split(r"(?:^|\n)(?:[*+-]|\d+\.|#\.) +", whole)
    return [("prose", plain_rst(item)) for item in items if item.strip()]
