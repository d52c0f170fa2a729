"""What a person typed, taken out of what a host hands to a hook as the prompt.

Hosts wrap reminders, command output and notifications into prompts, and send prompts of their own. None of
that is a question; a search for it would only find noise. All of it is linear in the length of the prompt.
"""

import re

from mem.context.fence import strip_fenced

LONGEST = 100_000  # characters; what is longer was pasted, and is no question
_EDGE = 1_000  # characters of each end of a long prompt that are searched for: the question stands at an end

_WRAPPERS = (
    *("system-reminder", "system_reminder", "user-prompt-submit-hook", "mem-notes"),
    *("command-name", "command-message", "command-args", "command-contents"),
    *("local-command-stdout", "local-command-stderr", "local-command-caveat"),
    *("bash-input", "bash-stdout", "bash-stderr", "user-memory-input"),
    *("task-notification", "cross-session-message", "teammate-message", "channel-message"),
    *("ide_opened_file", "ide_selection", "ide_diagnostics", "attached_files", "environment_context"),
)
_OPENS = re.compile(rf"<({'|'.join(_WRAPPERS)})(?=[\s>/])[^<>]*>", re.IGNORECASE)
_MACHINE_MADE = re.compile(
    r"(?:\[Request interrupted|\[SYSTEM NOTIFICATION|Caveat: The messages below were generated|"
    r"This session is being continued from a previous conversation|"
    r"<(?:task-notification|cross-session-message|teammate-message|channel-message|local-command|bash-|command-))",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"/[\w:.-]+(?:\s|$)|[#!]")


def typed(prompt: str) -> str:
    """The words of a person; empty for a command, a shortcut, or a prompt that a machine made."""
    if len(prompt) > LONGEST or _MACHINE_MADE.match(prompt.lstrip()):
        return ""
    words = strip_fenced(_unwrapped(prompt)).strip()
    if _COMMAND.match(words) or _MACHINE_MADE.match(words):
        return ""
    return words if len(words) <= 2 * _EDGE else f"{words[:_EDGE]}\n{words[-_EDGE:]}"


def _unwrapped(prompt: str) -> str:
    """The prompt without its wrappers and what stands in them; one that never closes takes the rest."""
    kept, start, lower = [], 0, prompt.lower()
    while found := _OPENS.search(prompt, start):
        kept.append(prompt[start : found.start()])
        closing = f"</{found[1].lower()}>"
        end = found.end() if found[0].endswith("/>") else lower.find(closing, found.end())
        if end < 0:
            return "".join(kept)
        start = end if found[0].endswith("/>") else end + len(closing)
    return "".join([*kept, prompt[start:]])


# snake_case, a file or dotted name, camelCase and PascalCase with real words, letters mixed with digits, and
# codes in capitals. A brand such as GitHub or iPhone names no single thing that is stored.
_NAME = re.compile(
    r"(?<![\w.-])(?:"
    r"[A-Za-z]\w*_\w+"
    r"|[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*\.[a-z]\w{0,5}\b"
    r"|[a-z]{2,}(?:[A-Z][a-z0-9]+)+"
    r"|(?:[A-Z][a-z]{3,}){2,}"
    r"|[A-Z]{1,6}-?\d{3,}"
    r"|[A-Z]{8,}"
    r")(?![\w-])"
)
_MOST_NAMES = 8
_BRANDS = frozenset(("javascript", "typescript", "postgresql", "wordpress", "stackoverflow"))
_JOINTS = re.compile(r"[\W_]+")


def identifiers(words: str) -> tuple[str, ...]:
    """The identifiers, file names and codes in a text, `squeezed`: each is rare by its form."""
    shouted = words.isupper()
    found = (squeezed(name) for name in _NAME.findall(words) if not (shouted and name.isalpha()))
    named = dict.fromkeys(name for name in found if len(name) >= 5 and name not in _BRANDS)
    return tuple(named)[:_MOST_NAMES]


# A capital within a sentence: a name, or in German any noun.
_PROPER = re.compile(r"(?<![.!?:\n]\s)(?<=\s)[^\W\d_a-z]\w{2,}")


def proper_names(words: str) -> tuple[str, ...]:
    """The words of a text that are written like names, `squeezed`; none where all of it is in capitals."""
    found = () if words.isupper() else _PROPER.findall(words)
    return tuple(dict.fromkeys(squeezed(name) for name in found if name[0].isupper()))[:_MOST_NAMES]


def squeezed(text: str) -> str:
    """A text without case, spaces and joints: recallMemory, recall_memory and "recall memory" are one."""
    return _JOINTS.sub("", text.casefold())


def asks(text: str) -> bool:
    """Whether a prompt is a question by its last mark."""
    return text.rstrip().endswith(("?", "？", "؟"))
