"""A text as what it states: its words and amounts in order, and how often it denies.

Opposites (enabled, disabled) become one word, and the negative one counts as a denial; what denies
twice holds. So "not allowed" and "forbidden" state the same. Unspaced scripts give single
characters, katakana whole words.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache

from mem.search.stopwords import LANGUAGES, without_marks
from mem.truth import amounts
from mem.truth import statement_words as listed
from mem.truth.amounts import Amount

SPOKEN = ("en", "de", "fr", "es", "pt", "ru")  # told from each other by their function words
_STEM = 4  # letters
LONGEST = 1_000  # characters of a text that are compared


@dataclass(frozen=True, slots=True)
class Token:
    """A word or an amount; `text` is folded, and the same for all that counts as the same."""

    text: str
    amount: Amount | None = None
    light: bool = False  # says nothing about what is stated
    group: tuple[int, int] | None = None  # which class of words that exclude each other, and which of them

    @property
    def is_month(self) -> bool:
        """Whether it is the name of a month."""
        return self.text.startswith("month ")

    @property
    def may_vary(self) -> bool:
        """Whether another ending makes it another form of the same word."""
        return (
            self.amount is None
            and not self.light
            and not self.group
            and self.text.isalpha()
            and len(self.text) > 2
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text states.

    `denials` counts its negations; `telling` is how the words begin that say what it is about.
    """

    tokens: tuple[Token, ...]
    denials: int
    unspaced: bool
    telling: frozenset[str]
    texts: tuple[str, ...]
    forms: tuple[str, ...]  # words that may have another ending
    weight: int  # number of telling tokens


_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HIRAGANA, _KATAKANA = "\u3041-\u309f", "\u30a1-\u30fa\u30fc"
_OPPOSITES = listed.members(listed.OPPOSITES)
_HAN_OPPOSITES = listed.members(listed.HAN_OPPOSITES)
_CLASSES = listed.members(listed.CLASSES)
_HAN_CLASSES = [word for word in _CLASSES if re.match(f"[{_HAN}]", word)]
_MONTHS = {
    word: f"month {number}"
    for number, line in enumerate(listed.MONTHS.split(";"), 1)
    for word in line.split()
}
_LIGHT = {
    language: frozenset(without_marks(word) for word in LANGUAGES[language]) | listed.EMPTY
    for language in SPOKEN
}
_SWITCHED = re.compile(
    r"\b(?:turned|switched|is|are|set to|left|stays?) (on|off)\b(?! (?:a|an|the|port|\d|\w+day)\b)"
    r"|\b(?:ist|sind|bleibt|bleiben) (an|aus)\b(?=\s*(?:[.,;]|$))",
    re.IGNORECASE,
)
# Letters that hardly another one of these languages has.
_LETTERS = {"en": "", "de": "äöüßÄÖÜ", "fr": "èêîûœ", "es": "ñ¿¡", "pt": "ãõÃÕ", "ru": "ыэъёй"}
_NOT_DENYING = re.compile(listed.NOT_DENYING, re.IGNORECASE)


@cache
def _pattern() -> re.Pattern[str]:
    own = rf"{_HAN}{_HIRAGANA}{_KATAKANA}"
    return re.compile(
        rf"""(?P<plain>[A-Za-z]++(?![\w'./:@{own}]))
          | (?P<exact>\w+://[^\s<>"')\]]+ | (?<![\w/])(?:~|\.{{1,2}})?/[\w.+-]+(?:/[\w.+-]+)*
                  | (?<!\w)[A-Za-z]\w*(?:[_/]|\.(?=[A-Za-z]{{2}}))[\w./-]*\w)
          | {amounts.AMOUNT}
          | (?P<class>{listed.longest_first(_HAN_CLASSES)})
          | {amounts.HAN_AMOUNT}
          | (?P<word>[^\W\d_{own}](?:[^\W_{own}]|'(?=\w))*)
          | (?P<katakana>[{_KATAKANA}]+)
          | (?P<seeming>{listed.NO_HAN_NEGATION})
          | (?P<opposite>{listed.longest_first(_HAN_OPPOSITES)})
          | (?P<denying>{listed.HAN_NEGATION})
          | (?P<han>[{_HAN}]) | (?P<kana>[{_HIRAGANA}]) | (?P<sign>[#=:]|\d+)
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def votes(text: str) -> tuple[int, ...]:
    """How many function words of each language in `SPOKEN` a text has."""
    found = set(re.findall(r"[^\W\d_]+", text[:LONGEST].casefold()))
    letters = set(text)
    return tuple(
        len(found & LANGUAGES[language]) + 2 * (not letters.isdisjoint(_LETTERS[language]))
        for language in SPOKEN
    )


def state(text: str, language: str) -> Statement:
    """Take a text apart; its words in Latin or Cyrillic letters are read in a language."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).replace("’", "'")
    plain = _NOT_DENYING.sub(" ", _SWITCHED.sub(_as_opposite, plain))
    reader = _Reader(language)
    for match in _pattern().finditer(plain):
        reader.take(match)
    return reader.statement()


def _as_opposite(match: re.Match[str]) -> str:
    return "enabled" if (match[1] or match[2]).casefold() in ("on", "an") else "disabled"


@dataclass(slots=True)
class _Reader:
    """Tokens as they are read, and what has to be known of those before."""

    language: str
    tokens: list[Token] = field(default_factory=list)
    denials: int = 0
    strengthening: bool = False  # a negation came before that another one would only strengthen
    has_ne: bool = False
    unspaced: bool = False

    def statement(self) -> Statement:
        telling = frozenset(
            token.text[:_STEM] for token in self.tokens if not token.light and token.amount is None
        )
        return Statement(
            tokens=tuple(self.tokens),
            denials=self.denials,
            unspaced=self.unspaced,
            telling=telling,
            texts=tuple(token.text for token in self.tokens),
            forms=tuple(token.text for token in self.tokens if token.may_vary),
            weight=sum(not token.light for token in self.tokens),
        )

    def take(self, match: re.Match[str]) -> None:
        """Add what was found."""
        kind, found = match.lastgroup, match[0]
        if kind == "plain":
            self._word(found)
        elif match["amount"] or match["han_amount"]:
            self.tokens.append(Token(found, amounts.read(match)))
        elif match["word"]:
            self._word(found)
        elif kind == "exact":
            self.tokens.append(Token(found.casefold()))
        elif kind == "denying":
            self.denials += 1
            self.unspaced = True
        elif kind == "opposite":
            self._opposite(*_HAN_OPPOSITES[found])
            self.unspaced = True
        elif kind == "class":
            self.tokens.append(Token(found, group=_CLASSES[found]))
            self.unspaced = True
        elif kind == "sign":
            self.tokens.append(Token(found, light=True))
        else:
            light = kind in ("kana", "seeming") or found in listed.HAN_EMPTY
            self.tokens.append(Token(found, light=light))
            self.unspaced = True

    def _word(self, found: str) -> None:
        written = found.casefold()
        head, apostrophe, tail = written.partition("'")
        if apostrophe and tail == "t" and head.endswith("n"):
            self.denials += 1
            return
        if apostrophe and len(head) <= 2:  # l'API, d'attente, n'est
            self.has_ne |= head == "n"
            written, found = tail, found[len(head) + 1 :]
        elif apostrophe:
            written, found = head, found[: len(head)]
        word = without_marks(written)
        self.has_ne |= word == "ne"
        if word in listed.NEGATORS.get(self.language, ()):
            self._deny(word)
        elif word in _OPPOSITES:
            self._opposite(*_OPPOSITES[word])
        elif (number := amounts.spelled(written, self.language)) is not None:
            self.tokens.append(Token(word, number))
        elif (
            amounts.is_unit(written) and self.tokens and (last := self.tokens[-1]).amount and last.amount.bare
        ):
            self.tokens[-1] = Token(last.text, amounts.with_unit(last.amount, written))
        else:
            self.tokens.append(self._plain(word, found))
        if apostrophe and tail == "s":
            self.tokens.append(Token("'s", light=True))

    def _plain(self, word: str, found: str) -> Token:
        if word in _MONTHS and (self.language != "en" or word != "may" or found[0].isupper()):
            return Token(_MONTHS[word])
        light = word in _LIGHT[self.language] or (len(word) == 1 and found.islower())
        return Token(word, light=light, group=_CLASSES.get(word))

    def _deny(self, word: str) -> None:
        if self.language == "fr" and word in listed.NEEDS_NE and not self.has_ne:
            self.tokens.append(Token(word, light=True))
        elif self.strengthening and word in listed.STRENGTHENING.get(self.language, ()):
            pass
        else:
            self.denials += 1
            self.strengthening = word not in listed.WITHOUT

    def _opposite(self, number: int, place: int) -> None:
        self.tokens.append(Token(f"opposite {number}"))
        self.denials += place
