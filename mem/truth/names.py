"""What a text names: addresses, paths, versions, identifiers, people and things."""

import re

# Letters of the scripts that have capitals, so that a name between Chinese characters ends where these end.
_LETTERS = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u058f\u1e00-\u1fff"
_WORDS = re.compile(rf"(?P<opening>^\W*|[.!?…]\s+)?(?P<word>[{_LETTERS}]+)")
_EXACT = re.compile(
    r"""https?://[^\s<>"')\]]+                            # addresses
      | (?<![\w/])(?:~|\.{1,2})?/[\w.+-]+(?:/[\w.+-]+)*   # paths from a root
      | (?<![\w/])[\w+-][\w.+-]*(?:/[\w.+-]+)+\.[a-z]\w*  # paths to a file
      | \b[A-Za-z]:\\[\w.+\\-]+                           # paths on Windows
      | \bv?\d+\.\d+(?:\.\d+)*\b                          # versions and network addresses
      | \b[A-Za-z]\w*_\w+\b                               # identifiers
    """,
    re.VERBOSE | re.ASCII,
)
_CLOSING = ".,;:!?"


def names(text: str) -> set[str]:
    """Words that stand out by a capital: inside a sentence, or within the word."""
    found = set()
    for match in _WORDS.finditer(text):
        word = match["word"]
        telling = word if match["opening"] is None else word[1:]
        if telling != telling.lower() and word != "I":
            found.add(word)
    return found


def facts(text: str) -> list[str]:
    """All that a text names and that another wording must keep, in order, without repeats."""
    exact = [match[0].rstrip(_CLOSING) for match in _EXACT.finditer(text)]
    covered = " ".join(exact)
    named = [word for word in names(text) if word not in covered]
    return sorted(dict.fromkeys((*exact, *named)), key=text.index)


def mentions(text: str, fact: str) -> bool:
    """Whether a text names a fact, in whatever case; `v2.4.1` does not name `v2.4`."""
    whole = rf"(?<![\w./]){re.escape(fact)}(?!\.?\w|/\w)"
    return re.search(whole, text, re.IGNORECASE | re.ASCII) is not None
