"""Folding: text in the form in which the lexical index holds it and queries ask for it.

The index is FTS5 with `porter unicode61 remove_diacritics 2`, whose tokens are runs of letters, digits and
private-use characters. Three promises hold between a document and a query:

- What a document writes as one word, name, version or run of Chinese is found by asking for it the same way;
  a name also by its parts and in another spelling (`recallMemory`, `recall_memory`, "recall memory").
- A folded text holds nothing that SQLite divides otherwise than this module: a term of a query is one token.
- Everything is linear in the length of the text, hostile text included.

Private-use characters join numbers that a dot or dash keeps together, so that `2.4.1` is one token, which 241
does not find. They stay inside the index; no text for people comes from here.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from mem.search.stopwords import CAPITALISED_TERMS, CONTENT_WORDS, LETTERS, STOP_WORDS
from mem.search.unspaced import MARKS, characters, has_kana, pairs, segments, telling_pairs

# Everything private lies below U+100000, beyond which SQLite sees no token characters.
_DOT, _LINK = "\U000fe000", "\U000fe001"
_OWN = range(MARKS.start, ord(_LINK) + 1)

_LONGEST_NAME = 64  # of a joined or camel-case name; longer runs are data, not names
_MOST_PARTS = 8
_MOST_MARKS = 30  # on one letter, as in the Stream-Safe Text Format of UAX #15
_APOSTROPHES = dict.fromkeys(map(ord, "‘’‛ʼ"), "'")
_HYPHENS = dict.fromkeys(map(ord, "‐‑"), "-")
# Letters here, but not for SQLite, whose tables are those of Unicode 6.1.
_NO_LETTERS = frozenset((*range(0x19B0, 0x19CA), 0x1CF2, 0x1CF3))
# Written as one word although their capitals say otherwise: "java" must not find JavaScript.
_NOT_DIVIDED = frozenset(
    ("devops", "github", "gitlab", "javascript", "linkedin", "macos", "typescript", "youtube")
)
_NAMES = {"c++": "cpp", "g++": "gpp", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}


class _Characters(dict[int, str]):
    """What each character becomes, learnt one by one: a letter, nothing, or a space."""

    def __missing__(self, code: int) -> str:
        kept = _folded_character(code)
        if len(self) < 20_000:
            self[code] = kept
        return kept


def _folded_character(code: int) -> str:
    character = chr(code)
    if code == 0:
        return " "
    if code < 0x80 or code in _OWN:
        return character
    match unicodedata.category(character):
        case "Nd":
            return str(unicodedata.digit(character))
        case _ if character.isalnum() and code not in _NO_LETTERS:
            return character
        case "Mn" | "Mc" | "Me":
            # Accents and vowel points go; the vowel signs of Indic and Thai scripts are part of the spelling.
            return chr(MARKS.start + code) if 0x0900 <= code < 0x1AB0 else ""
        case "Cf" if code != 0x200B:
            return ""
        case _:
            return " "


_CHARACTERS = _Characters({**LETTERS, **_APOSTROPHES, **_HYPHENS})
_MANY_MARKS = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{_MOST_MARKS + 1},}}")


def _stream_safe(match: re.Match[str]) -> str:
    """Return the characters with at most `_MOST_MARKS` combining marks in a row."""
    kept, marks = [], 0
    for character in match[0]:
        marked = character in "\uff9e\uff9f" or unicodedata.category(character)[0] == "M"
        marks = marks + 1 if marked else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def _clean(text: str) -> str:
    """Return the text in NFKC with only token characters beyond ASCII; case is kept, for names."""
    if text.isascii():
        return text.replace("\0", " ")
    # Python sorts the marks on one letter in quadratic time.
    return unicodedata.normalize("NFKC", _MANY_MARKS.sub(_stream_safe, text)).translate(_CHARACTERS)


# In a clean text all beyond ASCII belongs to words; a class without high ranges compiles in no time.
_LETTER = r"[^\x00-/:-@\[-`{-\x7f]"
_JOINT = r"(?:[.\-]|_++)"
_THOUSANDS = rf"[0-9]{{1,3}}(?:,[0-9]{{3}})++(?!,|{_LETTER})"
_NUMBER = f"(?P<number>{_THOUSANDS})"
_SPECIAL = rf"(?P<special>[CcGg]\+\+|[CcFf]\#|\.(?:NET|Net|net)(?!{_LETTER}))"
# A hump (aB), the end of an acronym (ABc), letters before a number (ab1), an ending that hides the stem.
_INSIDE = "[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{2}[0-9]|[aeiouAEIOU][yY](?:ment|MENT|able|ABLE)"
# What the index spells out: names of several words. What a query asks for: every word, with its apostrophes.
_INDEXED = re.compile(
    f"(?<!{_LETTER})(?:{_NUMBER}|{_SPECIAL}"
    f"|(?P<name>{_LETTER}++(?:{_JOINT}{_LETTER}++)++|(?={_LETTER}*?(?:{_INSIDE})){_LETTER}++))"
)
_ASKED = re.compile(
    f"(?<!{_LETTER})(?:{_NUMBER}|{_SPECIAL}"
    f"|(?P<name>{_LETTER}++(?:(?:{_JOINT}|'(?!{_THOUSANDS})){_LETTER}++)*+))"
)
_PLAIN = re.compile(
    rf"(?<!{_LETTER})(?:{_NUMBER}|{_SPECIAL}|(?P<name>{_LETTER}++(?:(?<=[0-9])\.(?=[0-9]){_LETTER}++)*+))"
)


def fold(text: str) -> str:
    """Return the text as it goes into the index: cleaned, lower-cased, names and runs spelled out.

    Any string will do; the result holds neither NUL nor surrogates. Folding again loses nothing.
    """
    folded = (
        f" {' '.join(_indexed_run(part))} " if unspaced else _folded_words(part)
        for part, unspaced in segments(_clean(text))
    )
    return _lowered("".join(folded))


def _folded_words(text: str) -> str:
    """Return what stands between spaces, across which no name reaches: texts repeat most of their words."""
    parts = text.split(" ")
    if max(map(len, parts)) > _LONGEST_NAME:
        return _INDEXED.sub(_spelled_out, text)
    return " ".join(map(_folded_word, parts))


@lru_cache(maxsize=20_000)
def _folded_word(word: str) -> str:
    return _INDEXED.sub(_spelled_out, word)


def words(text: str) -> list[str]:
    """Return every word of a text in order, lower-cased: for comparing texts by the words they share.

    An apostrophe, a dash or an underscore ends a word, a dot inside a number does not (`2.4.1`). Unspaced
    scripts give overlapping pairs of characters. Stop words stay.
    """
    found: list[str] = []
    for segment, unspaced in segments(_lowered(_clean(text))):
        if unspaced:
            found.extend(pairs(characters(segment)))
        else:
            for match in _PLAIN.finditer(segment):
                found.append(match[0] if match["name"] else _written(match[0]))
    return found


def query_terms(query: str, *, limit: int = 64) -> tuple[str, ...]:
    """Return the distinct terms of a query in order, each exactly one token of the index before stemming.

    Stop words are left out, so a query of nothing else gives (). A name gives itself joined and its parts.
    Unspaced scripts give overlapping pairs; a single character only where it stands alone. Of more than
    `limit` terms the longest in UTF-8 stay, for they say most: names, dotted numbers, long words, then pairs.
    """
    terms = list(dict.fromkeys(_asked(_clean(query))))
    if len(terms) > limit:
        longest = sorted(range(len(terms)), key=lambda place: -len(terms[place].encode()))[: max(limit, 0)]
        terms = [terms[place] for place in sorted(longest)]
    return tuple(terms)


def _written(found: str) -> str:
    """Return the one token of a number with separators or of a name with signs: 5000, cpp."""
    return _NAMES.get(found.lower()) or found.replace(",", "")


def _lowered(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def _indexed_run(run: str) -> list[str]:
    single = characters(run)
    return [*pairs(single), *single] if len(single) > 1 else single


def _spelled_out(match: re.Match[str]) -> str:
    """Return what the index holds in place of a name or number, set apart by spaces."""
    found = match[0]
    if match["name"]:
        tokens = _readings(found, indexed=True)
    else:
        tokens = [_written(found), *(["net"] if found[0] == "." else [])]
    return f" {' '.join(tokens)} "


_VERSION = re.compile("[0-9]++(?:[.][0-9]++)++")
# The T is that of a timestamp.
_DASHED_NUMBER = re.compile("(?<![0-9A-Za-z])[0-9]++(?:-[0-9]++)++(?:(?=T[0-9])|(?![0-9A-Za-z]))")
_BETWEEN_DIGITS = re.compile("(?<=[0-9])(?:[.]|-|_++)(?=[0-9])")
_JOINTS = re.compile("[._ -]+")
_HUMP = re.compile("[A-Z]{2,}s(?![^A-Z0-9])|[A-Z]+(?![^A-Z0-9])[0-9]*|[A-Z]?[^A-Z0-9]+[0-9]*|[0-9]+")
# Porter's rules make deploy "deploi" but deployment "deploy": such a word also stands for what it comes from.
_DERIVED = re.compile("([a-z]*[aeiou]y)(?:ments?|able)", re.IGNORECASE)
_NUMBERED = re.compile("([A-Za-z]{2,})([0-9]+)")


def _readings(name: str, *, indexed: bool) -> list[str]:
    """Return the tokens of a name: joined, its numbers, its dotted segments joined, its parts.

    The index also holds what a version begins with, so that 3.11 finds 3.11.7; a query does not ask for it.
    """
    if _DOT in name or _LINK in name:  # folded before
        return list(filter(None, _JOINTS.split(name)))
    tokens = [_joined(name)] if len(name) <= _LONGEST_NAME else []
    rest = name
    for pattern in (_VERSION, _DASHED_NUMBER):
        for match in pattern.finditer(rest):
            tokens.append(_joined(match[0]))
            if indexed:
                tokens.extend(_beginnings(match[0]))
        rest = pattern.sub(" ", rest)
    if "." in name:
        segments = (segment.strip("-_") for segment in re.split("[. ]", rest))
        tokens.extend(_joined(segment) for segment in segments if _JOINTS.search(segment))
    for part in _JOINTS.split(rest):
        if part:
            tokens.append(part)
            tokens.extend(_humps(part))
    return list(dict.fromkeys(tokens))


def _joined(name: str) -> str:
    """Return the name without its joints; between digits they stay as private-use characters."""
    linked = _BETWEEN_DIGITS.sub(lambda joint: _DOT if joint[0] == "." else _LINK, name)
    return linked.replace(".", "").replace("-", "").replace("_", "")


def _beginnings(number: str) -> Iterator[str]:
    """Yield what a dotted or dashed number begins with, and each part of a dashed one (a range, a date)."""
    ends = [match.start() for match in _BETWEEN_DIGITS.finditer(number)][:_MOST_PARTS]
    yield from (_joined(number[:end]) for end in reversed(ends))
    if "-" in number:
        yield from number.split("-")


def _humps(part: str) -> Iterator[str]:
    """Yield the words of a camel-case name, a word and its number apart, and the stem of a derived word."""
    if len(part) > _LONGEST_NAME or part.lower() in _NOT_DIVIDED:
        return
    humps = _HUMP.findall(part)
    if 1 < len(humps) <= _MOST_PARTS:
        yield from (hump for hump in humps if len(hump) > 1)
    for hump in humps:
        if divided := _NUMBERED.fullmatch(hump) or _DERIVED.fullmatch(hump):
            yield from divided.groups()


_CONTRACTED = frozenset(("re", "ll", "ve", "qu"))


def _asked(text: str) -> Iterator[str]:
    all_capitals = text.isupper() and len(text.split()) > 1
    japanese = has_kana(text)
    for segment, unspaced in segments(text):
        if unspaced:
            yield from telling_pairs(segment, japanese=japanese)
            continue
        for match in _ASKED.finditer(segment):
            if match["name"]:
                yield from _asked_of_name(match[0], all_capitals=all_capitals)
            else:
                yield _written(match[0])


def _asked_of_name(name: str, *, all_capitals: bool) -> Iterator[str]:
    if name.isalpha() and name[1:].islower():  # a plain word, as most are
        term = _lowered(name)
        if term not in STOP_WORDS:
            yield term
        if term.endswith(("ment", "ments", "able")):
            yield from map(_lowered, _humps(name))
        return
    if name.lower().endswith("n't"):
        return
    fragments = name.split("'")
    if len(fragments) > 1:
        fragments = [part for part in fragments if len(part) > 1 and part.lower() not in _CONTRACTED]
    for fragment in fragments:
        acronym = fragment.isupper() and not all_capitals
        # What the index does not take apart, no query does.
        divided = _INDEXED.fullmatch(fragment)
        readings = _readings(fragment, indexed=False) if divided else [fragment]
        for reading in [] if _of_stop_words(fragment) else readings:
            term = _lowered(reading)
            stop = term in STOP_WORDS and not (acronym and term in CAPITALISED_TERMS)
            if not stop and (len(term) > 1 or len(readings) == 1):
                yield term


def _of_stop_words(name: str) -> bool:
    """Whether a hyphen joins stop words alone, as in French questions (est-ce, a-t-il); to-do is a word."""
    parts = name.lower().split("-")
    stop = all(part in STOP_WORDS or len(part) == 1 for part in parts) and any(
        len(part) > 1 for part in parts
    )
    return len(parts) > 1 and stop and "".join(parts) not in CONTENT_WORDS
