"""Secrets are taken out of a text before it is written or embedded: `[redacted:github-token]` in their place.

Promises:
- Only published formats and values with a telling name count, never how random a text looks. The formats
  stand in `token_formats`. Beside them are passwords in addresses (`url-password`), values of Authorization
  headers (`authorization`), and what is assigned to a password (`password`) or a key (`api-key`), where that
  is clearly no placeholder. Of these only the value goes; what names it stays.
- The label in the brackets is the kind of secret. `LABELS` are all of them.
- Placeholders stay: `<your-token>`, `ghp_xxxx…`, `$DB_PASSWORD`, `AKIA…EXAMPLE`, names of variables.
- Redacting twice changes nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mem.truth.token_formats import FORMATS, Format

_MARK = "[redacted:"
_WINDOW = 600  # characters behind a beginning in which a secret that starts before it ends
_QUOTES = "\"'`"
_HAN = r"\u2e80-\uffef"  # scripts without spaces, in which no value is written: one ends there


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds of secrets that it had, without repeats."""

    text: str
    labels: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """The text with a label in the place of every secret."""
    labels: dict[str, None] = {}
    # What stood beside a secret may tell of another one only once that is gone.
    while found := _secrets(text):
        parts: list[str] = []
        done = 0
        for begin, end, label in found:
            parts += (text[done:begin], f"{_MARK}{label}]")
            labels[label] = None
            done = end
        text = "".join((*parts, text[done:]))
    return Redacted(text, tuple(labels))


Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
    """What a secret looks like where one of the beginnings stands; `secret` says what of a match goes.

    It starts at most `before` characters earlier.
    """

    label: str
    beginnings: tuple[str, ...]
    pattern: str
    secret: Callable[[re.Match[str]], Span | None]
    before: int = 0
    flags: re.RegexFlag = re.ASCII


def _secrets(text: str) -> list[tuple[int, int, str]]:
    """Where the secrets stand, in order, with their labels; of two that overlap the one that begins first.

    Where both begin at one place, that is the one whose rule comes first.
    """
    spans = [(span, rule) for rule, match in _matches(text) if (span := rule.secret(match)) is not None]
    spans.sort(key=lambda found: (found[0][0], _RULES.index(found[1])))
    kept: list[tuple[int, int, str]] = []
    for (begin, end), rule in spans:
        if not kept or begin >= kept[-1][1]:
            kept.append((begin, end, rule.label))
    return kept


def _matches(text: str) -> Iterator[tuple["_Rule", re.Match[str]]]:
    """What has the form of a secret, found from the beginnings that stand in the text."""
    search, starting = _prefilter()
    done: dict[_Rule, int] = {}
    position = 0
    while hit := search(text, position):
        begin = hit.start()
        position = begin + 1  # another beginning may stand within this one
        for beginning, rule in starting[hit[0]]:
            earliest = done.get(rule, 0)
            if begin < earliest or not text.startswith(beginning, begin):
                continue
            pattern = _compiled(rule)
            if rule.before:
                match = pattern.search(text, max(earliest, begin - rule.before), begin + _WINDOW)
            else:
                match = pattern.match(text, begin)
            if match:
                done[rule] = match.end()
                yield rule, match


@cache
def _compiled(rule: _Rule) -> re.Pattern[str]:
    return re.compile(rule.pattern, rule.flags)


# What of a match goes


def _span(match: re.Match[str]) -> Span:
    return match.span("secret") if "secret" in match.re.groupindex else match.span()


def _by_form(match: re.Match[str]) -> Span | None:
    from mem.truth import placeholders  # not above: most texts get along without

    span = _span(match)
    return None if placeholders.is_placeholder(match.string[slice(*span)]) else span


def _by_form_but_words(match: re.Match[str]) -> Span | None:
    from mem.truth import placeholders

    span = _by_form(match)
    return None if span is None or placeholders.is_words(match.string[slice(*span)]) else span


# A private key of which the beginning is missing is read backwards from its end.

_SHORTEST_BODY = 20
_KEY_END = r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_LONGEST_KEY = 16_000
_BREAK = r"(?:\s|[nrt]\\|[\"'+>|,])"
_LINES_BACKWARDS = (
    rf"{_BREAK}*(?:[A-Za-z0-9+/]{{4}}=(?={_BREAK}))?{_BREAK}*={{0,2}}[A-Za-z0-9+/]+?"
    rf"(?:{_BREAK}+[A-Za-z0-9+/]{{20,}})*(?![A-Za-z0-9+/])"
)


def _before_end(match: re.Match[str]) -> Span | None:
    begin, end = match.span()
    lines = re.match(_LINES_BACKWARDS, match.string[max(0, begin - _LONGEST_KEY) : begin][::-1], re.ASCII)
    return (begin - lines.end(), end) if lines and lines.end() >= _SHORTEST_BODY else None


# Passwords in addresses

_ADDRESS = (
    rf":(?://|\\/\\/)[^\s/:@<>\[{_QUOTES}]{{0,100}}:"
    rf"(?P<secret>(?![0-9]{{1,5}}[/?#])[^\s/<>{_QUOTES}]{{1,200}})@(?=[\w.\[$%{{-])"
)


def _in_address(match: re.Match[str]) -> Span | None:
    from mem.truth import placeholders

    span = _by_form(match)
    return None if placeholders.stands_for_password(match["secret"]) else span


# Assignments

_VALUE = (
    r"(?:\"(?P<double>[^\"\s]{6,300})\"|'(?P<single>[^'\s]{6,300})'|`(?P<back>[^`\s]{6,300})`"
    rf"|(?P<bare>(?:(?![,;&|][\w .-]{{0,30}}=)[^\s{_QUOTES}\\{_HAN}]){{6,300}}))"
)
_VALUES = ("double", "single", "back", "bare")
_SIGN = (
    rf"(?:[{_QUOTES}\])*]{{0,3}}[ \t]{{0,3}}(?:=>|:=|=(?!=)|:(?![:/])|：|＝)[ \t*]{{0,3}}\\?"
    r"|(?P<space>[ \t]{1,3}))"
)
_ENTRY = (
    r"(?:(?i:pass(?:word|wd|wort|phrase|code)|kennwort|contrase[nñ]a|mot[ _]?de[ _]?passe|wachtwoord|пароль"
    r"|(?<![^\W\d_])(?:pwd|mdp|senha))|密码|密碼|口令|パスワード|비밀번호)"
)
_ACCESS = (
    r"(?i:(?P<last>token|secret)|secret[_ -]?(?:access[_ -]?)?key(?:[_-]?base)?"
    r"|(?:api|access|encryption|master|consumer)[_ -]?key)"
)
_OF_TOKEN = ("access", "auth", "api", "bearer", "refresh", "private", "bot", "deploy", "secret")
_OF_SECRET = (*("client", "app", "api", "signing", "jwt", "session", "webhook", "consumer", "shared"),)
_FLAG = r"(?:--[\w-]{0,40}|login \S{1,60} )$"
_SHORTEST_PASSWORD, _SHORTEST_KEY = 6, 12
_SHORTEST_TOKEN = 24  # where the name is nothing but `token`


def _password(match: re.Match[str]) -> Span | None:
    return _value(match, _SHORTEST_PASSWORD)


def _key(match: re.Match[str]) -> Span | None:
    last = (match["last"] or "").casefold()
    if not last:
        return _value(match, _SHORTEST_KEY)
    before = match.string[max(0, match.start() - 12) : match.start()]
    kind = before.casefold().rstrip("_- ")
    if kind.endswith(_OF_TOKEN if last == "token" else _OF_SECRET):
        return _value(match, _SHORTEST_KEY)
    stands_alone = not before or not (before[-1].isalnum() or before[-1] in "_-")
    is_flag = before.endswith("--")
    return _value(match, _SHORTEST_TOKEN) if last == "token" and (stands_alone or is_flag) else None


def _value(match: re.Match[str], shortest: int) -> Span | None:
    """The value that is assigned, if it is clearly one that somebody chose or was given."""
    if match["space"] and not re.search(_FLAG, match.string[max(0, match.start() - 80) : match.start()]):
        return None
    from mem.truth import placeholders

    group = next(group for group in _VALUES if match[group] is not None)
    begin, end = match.span(group)
    value = match[group]
    if group == "bare":
        value = value.rstrip(",;.)]}>|*:")
        end = begin + len(value)
    if len(value) < shortest or _MARK in value or not placeholders.is_chosen(value):
        return None
    return None if group == "bare" and placeholders.refers(value) else (begin, end)


# All rules; of two that find the same, the earlier one gives the label.


def _of_format(form: Format) -> _Rule:
    secret = _by_form_but_words if form.spoken else _by_form
    return _Rule(form.label, tuple(form.beginnings.split("|")), form.pattern, secret, form.before)


# The first letters of the names, which are enough to look closer.
_PASSWORD_NAMES = (
    *(
        "passw",
        "Passw",
        "PASSW",
        "passp",
        "Passp",
        "PASSP",
        "passc",
        "Passc",
        "PASSC",
        "kennw",
        "Kennw",
        "KENNW",
    ),
    *(
        "contrase",
        "Contrase",
        "CONTRASE",
        "mot de",
        "Mot de",
        "mot_de",
        "MOT_DE",
        "motDe",
        "wachtw",
        "Wachtw",
    ),
    *("пароль", "Пароль", "pwd", "Pwd", "PWD", "mdp", "MDP", "senha", "Senha", "SENHA"),
    *("密码", "密碼", "口令", "パスワード", "비밀번호"),
)
_KEY_NAMES = (
    *("token", "Token", "TOKEN", "secret", "Secret", "SECRET"),
    *(
        "api_k",
        "api-k",
        "api k",
        "apik",
        "apiK",
        "Api_K",
        "Api-K",
        "ApiK",
        "API_K",
        "API-K",
        "API k",
        "API K",
    ),
    *("APIK", "access_k", "access-k", "accessK", "ACCESS_K", "AccessK", "encryption_k", "encryptionK"),
    *("ENCRYPTION_K", "master_k", "masterK", "MASTER_K", "consumer_k", "consumerK", "CONSUMER_K"),
)
_RULES = (
    *map(_of_format, FORMATS),
    _Rule("private-key", ("-----END ",), _KEY_END, _before_end),
    _Rule("url-password", ("://", ":\\/\\/"), _ADDRESS, _in_address, flags=re.NOFLAG),
    _Rule("password", _PASSWORD_NAMES, _ENTRY + _SIGN + _VALUE, _password, flags=re.NOFLAG),
    _Rule("api-key", _KEY_NAMES, _ACCESS + _SIGN + _VALUE, _key, flags=re.NOFLAG),
)
LABELS = tuple(sorted({rule.label for rule in _RULES}))

Starting = Mapping[str, tuple[tuple[str, _Rule], ...]]


@cache
def _prefilter() -> tuple[Callable[[str, int], re.Match[str] | None], Starting]:
    """The one pattern that finds the beginnings, and which rules a beginning may belong to.

    It finds the shortest: `sk-` also where `sk-ant-` stands.
    """
    listed = [(beginning, rule) for rule in _RULES for beginning in rule.beginnings]
    tree: dict[str, Any] = {}
    for beginning, _ in listed:
        branch = tree
        for character in beginning:
            branch = branch.setdefault(character, {})
        branch[""] = {}
    all_beginnings = {beginning for beginning, _ in listed}
    return re.compile(_branches(tree)).search, {
        short: tuple((full, rule) for full, rule in listed if full.startswith(short))
        for short in all_beginnings
    }


def _branches(tree: Mapping[str, Any]) -> str:
    """A tree of characters as a pattern without common beginnings, which is several times as fast."""
    if "" in tree:
        return ""
    parts = [re.escape(character) + _branches(below) for character, below in tree.items()]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
