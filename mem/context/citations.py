"""Citations of memories in a text: those of what was shown stay, all others go.

Promises:
- A citation is a bracket with nothing in it but ids, of which the first is marked: `[#7]`, `[ # 7 ]`,
  `[id:7]`, `[ID: 7]`, `[#7, #9]`, `[#0192f3a4-…]`, `[see #7]`. It is recognised in any spacing, case and
  emphasis, in full-width or other brackets and digits, with invisible characters in it, and in code as well.
  A bare `[7]` is a footnote, and is left alone.
- What comes out holds no citation of anything that was not shown, not even one that only arises where another
  was taken out. Of several in one bracket those that were shown stay.
- Everything else stays byte for byte, and checking again changes nothing.
- Linear in the length of the text, whatever it holds.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass

import apsw

from mem.errors import NotFound, Usage
from mem.store import memories

LONGEST = 100_000  # characters

_BRACKETS = dict(zip("【〔⟦⁅❲〖】〕⟧⁆❳〗", "[[[[[[]]]]]]", strict=True))
_BLANK = frozenset("\u115f\u1160\u3164\uffa0")  # letters that nobody sees
_EMPHASIS = re.compile(r"""[\\*_~`"'^()]""")
_NAMED = "(?:ids?|uids?|uuids?|mem|memory|memories)"
_MARK = re.compile(
    rf"(?:(?<!\w)(?:{_NAMED}|notes?|refs?|sources?|cites?|citations?|see|cf\.?)\s*+[:=]?\s*+)?#[\s#]*+"
    rf"|(?<!\w){_NAMED}\s*+[:=]\s*+"
    r"|(?<!\w)ids?(?=\s*+\d)"
)
_BETWEEN = re.compile(r"[\s,;:/&+|.–—−、。]++|\b(?:and|or|und|oder|et|ou|y|e)\b")
_ID = re.compile(r"\d++|[0-9a-f][0-9a-f-]{7,35}")
_RANGE = re.compile(r"(?:\d*+-++)*+\d*+")


@dataclass(frozen=True, slots=True)
class Checked:
    """A text with the citations that it may have, and what it cited: memories, and what was taken out."""

    text: str
    valid: tuple[int, ...] = ()
    rejected: tuple[str, ...] = ()


class _Looks(dict[str, str]):
    """How each character reads: in plain letters and digits, or not at all; learnt one by one."""

    def __missing__(self, character: str) -> str:
        self[character] = read = _read(character)
        return read


def _read(character: str) -> str:
    category = unicodedata.category(character)
    if (
        category in ("Cf", "Mn", "Me")
        or character in _BLANK
        or (category == "Cc" and not character.isspace())
    ):
        return ""
    if category == "Nd":
        return str(unicodedata.digit(character))
    return _BRACKETS.get(character) or unicodedata.normalize("NFKC", character).casefold()


def among(db: apsw.Connection, shown: Collection[int]) -> Callable[[str], int | None]:
    """Which of the shown memories an id stands for: a number, a UUID, or a prefix of one memory's alone."""

    def number(reference: str) -> int | None:
        if reference.isdecimal():
            return int(reference) if len(reference) < 19 and int(reference) in shown else None
        try:
            found = memories.resolve(db, [reference])[0]
        except (NotFound, Usage):
            return None
        return found if found in shown else None

    return number


def check(text: str, shown_as: Callable[[str], int | None]) -> Checked:
    """Keep the citations of what was shown; `shown_as` gives the number that an id stands for, if it was."""
    looks, kept = _Looks(), list[str]()
    opened: list[int] = []  # where the brackets begin that the next one may end
    valid: dict[int, None] = {}
    rejected: dict[str, None] = {}
    for character in text:
        kept.append(character)
        match looks[character]:
            case "[":
                opened.append(len(kept) - 1)
            case "]" if opened:
                start = opened.pop()
                ids = _cited("".join(looks[inner] for inner in kept[start + 1 : -1]))
                numbers = [shown_as(one) for one in ids]
                valid.update((number, None) for number in numbers if number is not None)
                stays = [one for one, number in zip(ids, numbers, strict=True) if number is not None]
                rejected.update((one, None) for one in ids if one not in stays)
                if ids and not stays:
                    del kept[start:]
                    continue
                if len(stays) < len(ids):
                    kept[start:] = f"[{', '.join(f'#{one}' for one in stays)}]"
                opened.clear()  # what has a bracket in it is no citation
    return Checked("".join(kept), tuple(valid), tuple(rejected))


def _cited(content: str) -> list[str]:
    """The ids that the content of a bracket cites; none where it says anything else."""
    plain = _EMPHASIS.sub(" ", content).strip()
    if not _MARK.match(plain):
        return []
    ids: list[str] = []
    for word in _BETWEEN.sub(" ", _MARK.sub(" ", plain)).split():
        if _ID.fullmatch(word):
            ids.append(word)
        elif _RANGE.fullmatch(word):
            ids += [number for number in word.split("-") if number]
        else:
            return []
    return ids
