"""User text on its way out: on one line for a record, harmless for a terminal."""

import re

_BREAKS = re.compile(r"(?:\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029])+")
# Everything that could move the cursor, change colours, hide text or reverse its direction.
_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def one_line(text: str) -> str:
    """The text with each run of line breaks and tabs as one space; nothing else changes."""
    return _BREAKS.sub(" ", text)


def escaped(text: str) -> str:
    r"""The text with line breaks and tabs as `\n`, `\r` and `\t`; nothing else changes."""
    return text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")


def visible(text: str) -> str:
    """The text with control characters, escapes and marks of direction shown instead of obeyed."""
    return _UNSAFE.sub(lambda found: _picture(ord(found.group())), text)


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"<U+{code:04X}>"
