"""When two texts are the same memory: the content fingerprint, and the hash of what is embedded."""

import hashlib
import re
import unicodedata

from mem.values import Kind, NewMemory

_FINAL_MARKS = re.compile(r"[.!?…。！？]+$")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ"
_SUPERSCRIPTS = re.compile(f"[{_RAISED}]+")
_LOWERED = str.maketrans(_RAISED, "0123456789+-ni")


def folded(text: str) -> str:
    """The text that duplicates share: NFKC, case-folded, white space collapsed, without final marks.

    Superscripts become `^n` first, since NFKC would make 10² and 102, or O(2ⁿ) and O(2n), the same. A text
    that is nothing but marks stands for itself.
    """
    lowered = _SUPERSCRIPTS.sub(lambda power: f"^{power[0].translate(_LOWERED)}", text)
    plain = unicodedata.normalize("NFKC", lowered)
    plain = unicodedata.normalize("NFKC", plain.casefold())
    collapsed = " ".join(plain.split())
    return _FINAL_MARKS.sub("", collapsed).rstrip() or collapsed or text


def fingerprint(kind: Kind, title: str | None, content: str) -> bytes:
    """SHA-256 of the folded text; a decision's title precedes its content."""
    text = f"{title}\n{content}" if kind is Kind.DECISION and title else content
    return hashlib.sha256(folded(text).encode()).digest()


def embedded_text(new: NewMemory) -> str:
    """What is embedded of a memory: the texts that say what it is about."""
    return joined_text(new.title, new.content, new.rationale, new.alternatives)


def joined_text(*parts: str | None) -> str:
    """The title, content, rationale and alternatives of a memory as one text."""
    return "\n".join(part for part in parts if part)


def text_hash(text: str) -> bytes:
    """The key of a text's vectors."""
    return hashlib.sha256(text.encode()).digest()
