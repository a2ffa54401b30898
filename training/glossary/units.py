"""What a text is cut into before it is aligned, a function a language; each yields (unit, word as written)."""

import re
import unicodedata
from functools import lru_cache

import snowballstemmer

WORD = re.compile(r"[^\W\d_]+")
STEMMERS = {name: snowballstemmer.stemmer(name) for name in ("english", "german", "french", "spanish")}


@lru_cache(maxsize=None)
def stem(language, word):
    return STEMMERS[language].stemWord(word)


def folded(text):
    return unicodedata.normalize("NFKC", text).lower()


def english_units(text):
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    for word in WORD.findall(re.sub(r"[’'](s|t|re|ve|ll|d|m)\b", "", folded(text))):
        if word.isascii() and len(word) > 1 or word in ("a", "i"):
            yield stem("english", word), word


def stemmed(language):
    def units(text):
        for word in WORD.findall(folded(text)):
            yield stem(language, word), word

    return units


# What is written onto a Korean word: particles, the verbs "do" and "become" in their forms, endings.
KOREAN_ENDINGS = sorted(
    """은 는 이 가 을 를 에 의 로 으로 와 과 도 만 에서 에게 까지 부터 보다 처럼 마다 이나 나 하고 라는 이라는 입니다 이다 에는 에서는 으로는 로는
    에도 에만 이며 이고 인 이면 이므로 들 들이 들을 들은 들의 에서만 으로만 로만 에게만 으로부터 로부터 에서의 으로의 에의 이라고 라고 인지 이라면
    별 용 당 하 한 할 함 합니다 하세요 하십시오 하는 하여 해 해야 했습니다 하지 하고 하며 하면 하려면 하려고 하기 하도록 하거나 하게 하였습니다 해서 했을
    했던 했는 한다 할지 하는지 해도 하므로 하니 해요 했어요 하겠습니까 하시겠습니까 하겠습니다 합니까 하시려면 하던 하지만 하지는 하기를 하기에 하려는 했지만
    된 될 됨 됩니다 되는 되어 되어야 되었습니다 됐습니다 되지 되고 되며 되면 되기 되도록 되거나 되게 돼 돼야 되었 된다 되었는 될지 되는지 되었으며 되었거나
    되었으므로 되므로 되었지만 되지만 됐어요 되었던 시키 시킵니다 시켜 시키는 시킬 시키려면 시킨 시키세요 받은 받을
    세요 으세요 십시오 으십시오 습니다 었습니다 았습니다 었 았 고 지 면 으면 는 기 려면 으려면 려고 어 아 어서 아서 어야 아야 은 을 던 도록 거나 며 으며
    게 음 는지 겠습니다 시겠습니까 으시겠습니까 습니까 지만 지는""".split(),
    key=len,
    reverse=True,
)


def korean(text):
    for run in re.findall(r"[\uac00-\ud7a3]+|[a-z]+", folded(text)):
        yield korean_stem(run), run


@lru_cache(maxsize=None)
def korean_stem(run):
    for ending in KOREAN_ENDINGS:
        if run.endswith(ending) and len(run) - len(ending) >= 2:
            stem = run[: -len(ending)]
            return stem[:-1] if len(stem) > 2 and stem.endswith("들") else stem
    return run


_sudachi = None


def japanese(text):
    global _sudachi
    if _sudachi is None:
        import sudachipy

        _sudachi = sudachipy.Dictionary().create(), sudachipy.SplitMode.B
    tokenizer, mode = _sudachi
    for token in tokenizer.tokenize(folded(text)[:2000], mode):
        surface, kind = token.surface(), token.part_of_speech()
        if not re.search(r"[^\W\d_]", surface):
            continue
        if kind[0] in ("動詞", "形容詞"):
            yield f"{token.dictionary_form()}|{kind[4]}", surface
        else:
            yield surface, surface


def chinese(text):
    import jieba

    for word in jieba.cut(folded(text)):
        if re.search(r"[^\W\d_]", word):
            yield word, word


UNITS = {
    "german": stemmed("german"),
    "french": stemmed("french"),
    "spanish": stemmed("spanish"),
    "japanese": japanese,
    "korean": korean,
    "chinese": chinese,
}
