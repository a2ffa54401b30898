#!/usr/bin/env python3
"""Chooses what of the learnt pairs is sure enough, and writes the lists: table.py PAIRS LEARNT GLOSSARY

PAIRS and LEARNT are what read.py and learn.py wrote. GLOSSARY is crates/memdir-core/src/terms/glossary: the lists written by hand are read from there, and `learnt/` is written.
A word of those lists is entered by its stem too, so that its other forms find it, and wins over what was learnt."""

import re
import sys
from collections import defaultdict
from pathlib import Path

from units import STEMMERS, UNITS, english_units

# A unit that was seen less often must be surer of its meaning.
LEAST_SHARE = [(20, 0.25), (5, 0.4), (3, 0.6), (2, 0.8), (1, 0.8)]
# Below this a unit counts only if it is the whole translation of one English word somewhere: a label, a name of a thing.
LEAST_SEEN = 3
# A second or third meaning: its share at least, and of the first one's.
OTHER_SHARE, OTHER_OF_FIRST = 0.14, 0.3
MAX_MEANINGS = 3
# English that is rarer than this is a name of something.
LEAST_ENGLISH = 3

SMALL = set(
    """a about above after again all already also always am an and another any anyone anything are aren as at away back be because
    been before being below between both but by can cannot could couldn did didn do does doesn doing don done down each either else
    ever every few first for from further gb get gets getting give given go goes going gone got had has have haven having he her
    here hers him his how however http https if in into is isn it its itself just kb know let like make makes many mb may maybe me
    might more most much must my need needs no non nor not now of off oh ok okay on once one only onto or org other others our out
    over own per please put rather re really same see seem shall she should since so some something soon still such sure take tell
    than thanks that the their them then there these they thing things this those though through thus to together too two until up
    upon us use used via very want was wasn way we well were what whatever when where whether which while who whole whose why will
    with within without won would yes yet you your yours yourself zu com www""".split()
)
# Small words of the other languages: what they are aligned with is chance.
FOREIGN_SMALL = {
    "german": """aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bereits bin bis bitte da
    dabei dadurch dafür daher damit danach dann daran darauf darf das dass dazu dein deine dem den denen der deren des dessen die dies
    diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwa etwas euch für gegen gibt hab
    habe haben hast hat hatte hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem innerhalb ins ist ja je jede jedem
    jeden jeder jedes jedoch jetzt kann kannst kein keine keinem keinen keiner können könnte mal man mehr mein meine mich mir mit muss
    musst müssen nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine selbst sich sie sind so sobald sofern solche soll
    sollen sollte sollten sondern sonst sowie um und uns unser unsere unter vom von vor wann war waren warum was wegen weil weitere
    welche welchen welcher welches wenn wer werde werden weder wie wieder will wir wird wirklich wo wobei wurde wurden während würde zu
    zum zur zurück zwar über stattdessen möchten möchtest sodass mindestens höchstens""",
    "french": """à afin ai ainsi alors après au aucun aucune aura auront aussi autre autres aux avant avec avez avoir avons ayant car
    ce ceci cela celle celui ces cet cette ceux chez ci comme comment d dans de depuis des dont du donc elle elles en encore entre est
    et étaient était étant être eu fait faire fois font hors il ils je jusqu l la là le les leur leurs lors lorsqu lorsque lui ma mais
    me même mes moins mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus plutôt pour pourquoi
    pouvez puis puisque qu quand que quel quelle quelles quels qui quoi s sa sans se sera seront ses si soit son sont sous sur ta tel
    telle tes toi ton tous tout toute toutes très trop tu un une va vers veuillez vos votre vous y été devez voulez souhaitez doit
    doivent cas jour""",
    "spanish": """a al algo algún alguna algunas alguno algunos ambos ante antes aquí así aun aunque bajo bien cada casi como con
    contra cual cuál cuales cualquier cuando cuándo cuya cuyo da de debe deben debido del desde deseas desea después donde dónde dos e
    el él ella ellos en entonces entre era eran es esa esas ese eso esos esta está están estas este esto estos fue fueron ha haber
    había hace hacer hacia han has hasta hay haya he incluso la las le les lo los luego más me mediante mi mientras mis mismo misma mucho
    muy nada ni ningún ninguna ninguno no nos nosotros nuestra nuestro o otra otras otro otros para pero poco por porque puede pueden
    puedes que qué quien quieres quiere se sea sean según ser será serán si sí sido siempre sin sino sobre solo son su sus tal también
    tampoco tan tanto te tiene tienen tienes toda todas todo todos tras tu tus u un una unas uno unos usted va vez y ya""",
    "korean": """그리고 그러나 또는 이것 그것 있습니다 없습니다 있는 없는 있습니까 하지만 경우 때문 위해 위한 대한 대해 통해 따라 모든 이러한 다른 어떤
    있어야 있으며 있지 합니다 하세요 하지 하는 않습니다 않은 않는 같은 그런 이런 저런 여기 거기 우리 당신 귀하 또한 다음 이미 아직 해당 수도 것이 것은 것을
    때는 후에 전에 동안 다시 현재 여러 가지 정말 매우 너무 만약 만일 대신 아래 이상 이하 미만 이후 이전 관련 하나 둘 있고 없이 않고 말고 바로 됩니다 습니다""",
    "japanese": """ます です ました ください する した して いる ある ない なし こと もの ため とき 場合 この その あの これ それ あれ ここ そこ どこ または
    および また そして しかし から まで より ので のみ だけ しか など ほど くらい ずつ よう よっ できる でき でし ませ ません ましょ たい なる なっ なり れる られ
    せる さ れ おり いう いい はい いいえ すべて 必要 可能 以下 以上 未満 ごと たち あなた 私 彼 つ 方 際 後 中 上 下 内 外 毎 各 全 他 同 何 もう まだ もし すでに""",
    "chinese": """的 了 是 在 和 或 或者 与 及 以及 您 你 我 他 她 它 我们 你们 他们 这 那 这个 那个 这些 那些 此 该 其 其他 将 把 被 由 从 到 对 为 以 于 向 给 用
    不 没 没有 不是 不会 不能 可以 能 能够 会 应 应该 必须 需要 要 想 想要 可能 已 已经 正在 请 如果 若 则 当 时 后 前 中 上 下 内 外 里 个 次 种 些 等 所 所有 每
    每个 任何 一个 一些 一种 另 另一个 之 也 都 还 就 才 又 再 只 仅 很 更 最 太 非常 因为 所以 因此 由于 但 但是 而 而且 并 并且 且 然后 之后 之前 以前 以后 什么
    怎么 如何 哪 哪个 是否 吗 呢 吧 啊 有 无 无法 让 使 使得 来 去 进行 通过 根据 按 按照 关于 对于 为了 除 除了 之间 其中 同时 例如 比如 是不是 一下 起来 时候 就是""",
}
FOREIGN_SMALL = {language: set(words.split()) for language, words in FOREIGN_SMALL.items()}


def labels(path, language):
    """Returns the pairs (unit, English stem) that are whole texts."""
    found = set()
    for line in path.read_text().splitlines():
        _, english, foreign = line.split("\t")
        if len(english) <= 24 and english.count(" ") <= 1 and len(foreign) <= 30:
            ours = [stem for stem, word in english_units(english) if word not in SMALL]
            if len(ours) == 1:
                theirs = [unit for unit, _ in UNITS[language](foreign) if unit not in FOREIGN_SMALL[language]]
                if len(theirs) == 1:
                    found.add((theirs[0], ours[0]))
    return found


def ordinary(path):
    """Returns the English words of all sources but PostgreSQL, whose syntax is full of names such as `tablename`."""
    found = set()
    for line in path.read_text().splitlines():
        source, english, _ = line.split("\t")
        if source != "postgresql":
            found.update(re.findall(r"[a-z]+", english.lower()))
    return found


def learnt(path, language, whole, known):
    """Yields (unit, meanings, n, forms) of what is sure enough, most frequent first."""
    rows = defaultdict(list)
    for line in path.read_text().splitlines():
        unit, english, both, n, n_english, forms = line.split("\t")
        rows[unit].append((english, float(both), int(n), int(n_english), forms))
    vocabulary = {row[0] for meant in rows.values() for row in meant}
    english_stem = STEMMERS["english"].stemWord
    for unit, meant in rows.items():
        n, forms = meant[0][2], [form.rsplit(":", 1)[0] for form in meant[0][4].split(" ")]
        if not is_word(unit.split("|")[0], forms, language):
            continue
        # Small English words take part: what mostly stands for one of them has no other meaning worth keeping.
        first, both = meant[0][:2]
        least = next(share for seen, share in LEAST_SHARE if n >= seen)
        if first in SMALL or first not in known or both / n < least or first in forms or len(first) < 2:
            continue
        if n < LEAST_SEEN and (unit, english_stem(first)) not in whole:
            continue
        chosen = []
        for english, both, _, n_english, _ in meant:
            share = both / n
            if english in SMALL or english not in known or n_english < LEAST_ENGLISH or len(english) < 2 or len(english) > (20 if n >= LEAST_SEEN else 14) or english in forms:
                continue
            if not chosen and share < least or chosen and (share < OTHER_SHARE or share < OTHER_OF_FIRST * chosen[0][1] or both < 1):
                continue
            chosen.append((english, share))
        if chosen:
            yield unit, [singular(english, vocabulary) for english, _ in chosen[:MAX_MEANINGS]], n, forms


def singular(word, vocabulary):
    for ending, base in (("ies", "y"), ("es", ""), ("s", "")):
        if len(word) > 4 and word.endswith(ending) and not word.endswith("ss") and word.removesuffix(ending) + base in vocabulary:
            return word.removesuffix(ending) + base
    return word


def without_compounds(table, seen):
    """Drops German compounds with one meaning whose parts are known: taken apart, they get the meaning of both."""
    def is_compound(key):
        for cut in range(4, len(key) - 3):
            first, rest = key[:cut], key[cut:]
            stem = STEMMERS["german"].stemWord
            heads = (stem(first.removesuffix(joint)) for joint in ("", "s", "es", "n", "en"))
            if rest in table and seen.get(rest, 9) >= 5 and any(head in table and seen.get(head, 9) >= 5 for head in heads):
                return True
        return False

    return {key: english for key, english in table.items() if len(english) > 1 or seen.get(key, 9) >= 20 or len(key) < 9 or not is_compound(key)}


def is_word(unit, forms, language):
    if language in STEMMERS:
        return 3 <= len(unit) <= 30 and not any(form in FOREIGN_SMALL[language] for form in forms[:2])
    if unit in FOREIGN_SMALL[language] or not 2 <= len(unit) <= 12 or re.search(r"[a-z0-9]", unit):
        return False
    if language == "japanese":
        # Hiragana alone is grammar more often than not.
        return not re.fullmatch(r"[\u3041-\u309f\u30fc]+", unit)
    return True


def written(path):
    rows = {}
    for line in path.read_text().splitlines():
        word, english = line.split("=")
        rows[word] = english.split(",")
    return rows


ROWS = {"う": "わいうえおっ", "く": "かきくけこい", "ぐ": "がぎぐげごい", "す": "さしすせそ", "つ": "たちつてとっ", "ぬ": "なにぬねのん",
        "ぶ": "ばびぶべぼん", "む": "まみむめもん", "る": "らりるれろっ"}


def japanese_forms(unit):
    """The beginnings by which a verb or adjective is found in a run: 書く → 書か 書き 書く …, 止める → 止め."""
    if "|" not in unit:
        return [unit]
    base, kind = unit.split("|")
    if kind.startswith("形容詞"):
        return [base, base[:-1] + "く", base[:-1] + "か"]
    if "一段" in kind and base.endswith("る"):
        return [base[:-1]] if len(base) > 2 else [base] + [base[:-1] + tail for tail in ("て", "た", "ま", "な", "ら")]
    if kind.startswith("五段"):
        return [base[:-1] + tail for tail in ROWS.get(base[-1], base[-1])]
    return [base]


def main():
    pairs, source, glossary = map(Path, sys.argv[1:4])
    (glossary / "learnt").mkdir(exist_ok=True)
    for path in sorted(source.glob("*.tsv")):
        language = path.stem
        by_hand = written(glossary / f"{language}.txt")
        table, n_learnt, seen = {}, 0, {}
        if language in STEMMERS:
            stem = STEMMERS[language].stemWord
            for word, english in by_hand.items():
                if " " not in word and len(stem(word)) > 2:
                    known = table.setdefault(stem(word), [])
                    known.extend(meaning for meaning in english if meaning not in known)
        hand_stems = {key: english[:3] for key, english in table.items()}
        for key in table:
            table[key] = table[key][:3]
        for unit, english, n, forms in learnt(path, language, labels(pairs / path.name, language), ordinary(pairs / path.name)):
            # A noun that was never seen without its last syllable may not have an ending at all.
            if language == "korean" and len(forms) == 1:
                unit = forms[0]
            for key in japanese_forms(unit):
                if len(key) < 2:
                    continue
                # What is written by hand stays in front; one more meaning may follow.
                known = hand_stems.get(key) or by_hand.get(key, [])
                new = [word for word in english if word not in known]
                if language in STEMMERS and known:
                    table[key] = (known + new)[:4]
                elif new:
                    seen[key] = n
                    table.setdefault(key, new[: 4 - len(known)] if known else new)
            n_learnt += 1
        if language == "german":
            table = without_compounds(table, seen)
        if language in STEMMERS:
            # A word that the list by hand has needs no second entry where its stem is the word and nothing was added.
            table = {key: english for key, english in table.items() if by_hand.get(key) != english}
        table = {key: english for key, english in table.items() if english and "=" not in key}
        lines = [f"{key}={','.join(english)}\n" for key, english in table.items()]
        lines.sort(key=lambda line: line.split("=")[0].encode())
        (glossary / "learnt" / path.with_suffix(".txt").name).write_text("".join(lines))
        print(f"{language:9} {n_learnt} learnt, {len(lines)} lines, {sum(len(line.encode()) for line in lines)} bytes")


if __name__ == "__main__":
    main()
