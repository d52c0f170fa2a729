"""Text that speaks to the agent as one who gives orders: noticed on write, and marked wherever it is shown.

A stored note reaches an agent's prompt. What reads there like an order from above, and not like a note about
the work, is the form that injected text takes: it overrides earlier instructions, speaks to "the AI" or in a
role of the conversation, orders in the second person for all time, wants something kept from the user, or
looks like a call of a tool. Ordinary rules ("always run make lint", "you need Node 20") do none of it.

Precision comes first: this is a mark for readers and no guard, and who wants to get past it will. English,
German, French, Spanish, Portuguese, Chinese and Japanese are known.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from mem.truth import instruction_forms as forms
from mem.truth import instruction_forms_romance as romance
from mem.values import Flag, NewMemory, Notice

_LANGUAGES = (
    *forms.ENGLISH,
    *forms.GERMAN,
    *romance.FRENCH,
    *romance.SPANISH,
    *romance.PORTUGUESE,
    *forms.CHINESE,
    *forms.JAPANESE,
)
_LONGEST_WORD = 64  # characters of a word that is remembered
_COMBINING = re.compile("[\u0300-\u036f]")  # not those of Japanese, which make other letters


def marked(new: NewMemory) -> NewMemory:
    """The memory with the mark where it is due, and a word to its writer where that is new."""
    said = (new.title, new.content, new.rationale, new.alternatives, new.source, *new.tags)
    if not addresses_agent("\n".join(filter(None, said))):
        return replace(new, flags=()) if new.flags else new
    if Flag.INSTRUCTION in new.flags:
        return new
    told = "This reads like an order to the agent; it is stored, and marked so wherever it is shown."
    return replace(new, flags=(Flag.INSTRUCTION,), notices=(*new.notices, Notice("instruction", told)))


def addresses_agent(text: str) -> bool:
    """Whether a text speaks to the agent that will read it as one who gives it orders."""
    lines = _folded(text)
    words = lines.split()
    cues = _cued(words)
    if not cues:
        return False
    return _holds(lines, _searched(in_frame=True), cues) or _holds(
        " ".join(words), _searched(in_frame=False), cues
    )


def _holds(text: str, searched: Mapping[str, Sequence[str]], cues: Iterable[str]) -> bool:
    """Whether one of the patterns is found; only those are tried whose cue is in the text."""
    found = {pattern for cue in cues if cue in searched and cue in text for pattern in searched[cue]}
    return any(_compiled(pattern).search(text) for pattern in found)


def _cued(words: Sequence[str]) -> frozenset[str]:
    """The cues that a text of these words may hold."""
    if max(map(len, words), default=0) <= _LONGEST_WORD:
        return frozenset[str]().union(*map(_cued_by, words))
    return frozenset[str]().union(*map(_cued_by.__wrapped__, words))


@lru_cache(maxsize=20_000)
def _cued_by(word: str) -> frozenset[str]:
    """The cues that a text with this word may hold; texts repeat most of their words."""
    if word.isascii() and word.upper() == word:  # numbers and signs: the text is in lower case
        return frozenset()
    return frozenset(cue for anchor, cues in _anchored().items() if anchor in word for cue in cues)


@cache
def _anchored() -> dict[str, list[str]]:
    """All cues by the longest of their words, which is whole in one word of a text that holds the cue."""
    anchored: dict[str, list[str]] = {}
    for cue in {**_searched(in_frame=True), **_searched(in_frame=False)}:
        anchored.setdefault(max(cue.split(), key=len), []).append(cue)
    return anchored


@cache
def _searched(*, in_frame: bool) -> dict[str, list[str]]:
    """The patterns by each of their cues."""
    searched: dict[str, list[str]] = {}
    for cues, pattern in forms.FRAMES if in_frame else _LANGUAGES:
        for cue in cues.split("|"):
            searched.setdefault(cue, []).append(pattern)
    return searched


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _folded(text: str) -> str:
    """The text without what hides words: case, widths, accents of Latin letters, invisible characters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = _COMBINING.sub("", unicodedata.normalize("NFD", plain))
    plain = unicodedata.normalize("NFC", plain).replace("’", "'")
    return "".join(one for one in plain if unicodedata.category(one) != "Cf")
