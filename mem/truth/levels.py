"""The level gate: `meta_knowledge` is earned, and a text bound to one place or time has not earned it.

Bound is what names a date, a hash, a path, a port or a version. The rules read English, German, French,
Spanish, Portuguese, Chinese and Japanese. They look for the thing itself and not for words about it: "review
before merging" and "keep every port closed" are general, "port 8080" is not. A bare year, a time of day, a
month without day or year, and a plain number are general too.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from mem.values import Level, NewMemory, Notice

LONGEST_QUOTED = 60

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December", "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov"),
    *("Dec", "Januar", "Jänner", "Februar", "März", "Mai", "Juni", "Juli", "Oktober", "Dezember"),
    *("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre"),
    *("novembre", "décembre", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto"),
    *("septiembre", "setiembre", "octubre", "noviembre", "diciembre", "janeiro", "fevereiro", "março"),
    *("maio", "junho", "julho", "setembro", "outubro", "novembro", "dezembro"),
)
_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_VERB = r"(?:May|March|Mar)"  # as in: May 3 people look at it?
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
# Scripts without spaces stand right beside a number, so a boundary is one between Latin letters and digits.
_BEFORE, _AFTER = r"(?<![A-Za-zÀ-ÿ0-9_])", r"(?![A-Za-zÀ-ÿ0-9_])"

_DATE = rf"""
    (?<![\d.]){_YEAR}([-/.])(?:0?[1-9]|1[0-2])\1{_DAY}(?!\d)
  | (?<![\d.]){_YEAR}-(?:0[1-9]|1[0-2])(?![\d-])
  | (?<![\d./-]){_DAY}([/.-])(?:0?[1-9]|1[0-2])\2{_YEAR}(?!\d)
  | (?<![\d./-])(?:0?[1-9]|1[0-2])/{_DAY}/{_YEAR}(?!\d)
  | {_BEFORE}{_DAY}(?:st|nd|rd|th|er|\.?o|\.)?\s(?:of\s|de\s|do\s)?{_MONTH}{_AFTER}
  | {_BEFORE}(?!{_VERB}\s){_MONTH}\s{_DAY}(?:st|nd|rd|th)?{_AFTER}(?!\s?[%x]|[.,:]\d)
  | {_BEFORE}(?i:on|by|since|from|until|till|before|after|of|between|and)\s
    {_VERB}\s{_DAY}(?:st|nd|rd|th)?{_AFTER}
  | {_BEFORE}{_VERB}\s{_DAY}(?:st|nd|rd|th)?,?\s{_YEAR}{_AFTER}
  | {_BEFORE}{_MONTH},?\s(?:of\s|de\s|do\s)?{_YEAR}{_AFTER}
  | {_YEAR}\s?年\s?\d{{1,2}}\s?月
  | (?<!\d)(?:0?[1-9]|1[0-2])\s?月\s?{_DAY}\s?[日号]
  | {_BEFORE}[QT][1-4][\s/-]{_YEAR}{_AFTER}
"""
_HASH = rf"""
    {_BEFORE}[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}{_AFTER}
  | {_BEFORE}(?=[0-9a-f]*[a-f])(?=(?:[a-f]*[0-9]){{2}})[0-9a-f]{{7,64}}{_AFTER}
  | {_BEFORE}(?:commit|revision|rev|sha1?|sha-?256|md5)[\s:@]\s?[0-9a-f]{{7,64}}{_AFTER}
"""
_SEGMENT = r"[\w.@+-]*[A-Za-z0-9_]"
_FILE_ENDS = (
    "bash|cfg|conf|cpp|cs|css|csv|db|env|gradle|go|html|ini|ipynb|java|js|json|jsonl|jsx|kt|lock|log|md|mjs|"
    "php|proto|ps1|py|rb|rs|rst|scss|sh|sql|sqlite|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zsh"
)
# Products that end like a file: React/Next.js is no path.
_NO_FILES = r"(?!(?i:node|next|nuxt|vue|react|express|three|d3|ember|nest|deno|alpine)\.js)"
_PATH = rf"""
    (?<![A-Za-z0-9_./<\\-])/{_SEGMENT}(?:/{_SEGMENT})+
  | (?<![A-Za-z0-9_./-])(?:~|\.\.?|\$\{{?[A-Z_]+\}}?)/{_SEGMENT}
  | (?<![A-Za-z0-9_./-])(?:[A-Za-z0-9_-]+/)+{_NO_FILES}[A-Za-z0-9_.-]+\.(?:{_FILE_ENDS}){_AFTER}
  | {_BEFORE}[A-Za-z]:\\[\w.]
  | (?<![\w\\])\\\\[\w.-]+\\[\w$]
  | (?:https?|ssh|ftp|git|file|s3|postgres(?:ql)?|mysql|redis)://(?:[\w.-]*@)?[\w-]+\.[\w.-]*[A-Za-z0-9]
"""
_IP = r"(?:\d{1,3}\.){3}\d{1,3}"
_ADDRESS = rf"(?<![\d.])(?!(?:127|0)\.0\.0\.[01](?!\d)){_IP}(?!\.?\d)"
_PORT = rf"""
    {_BEFORE}(?:ports?|puertos?|portas?|portos?)(?:\s(?:TCP|UDP|number|no\.?|Nr\.?|n[°º]))?[\s:=#"'`(]{{1,3}}\d{{2,5}}{_AFTER}
  | (?:端口|端口号|连接埠|ポート)(?:番号)?[はがを为是:=\s]{{0,3}}\d{{2,5}}(?!\d)
  | (?<!\d)\d{{2,5}}\s?(?:番)?(?:号)?(?:端口|ポート)
  | {_BEFORE}(?:localhost|{_IP}|\[[0-9a-f:]{{2,39}}\]):\d{{2,5}}(?!\d)
  | (?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{{1,253}}\.[A-Za-z]{{2,24}}:\d{{2,5}}(?!\d)
  | (?<!\S)-p\s\d{{2,5}}:\d{{2,5}}(?!\d)
  | (?<![^\s"'`(]):\d{{2,5}}(?![\d:])
"""
_PRODUCTS = (
    r"Python|Node(?:\.js)?|Postgres(?:QL)?|MySQL|MariaDB|SQLite|Redis|MongoDB|Java|JDK|Go|Golang|Ruby|Rails|PHP|"
    r"Rust|Django|Flask|React|Angular|Vue(?:\.js)?|Next\.js|Kubernetes|Docker|Ubuntu|Debian|Fedora|Alpine|macOS|"
    r"Windows|iOS|Android|TypeScript|\.NET|Spring\sBoot|Terraform|Helm|Kafka|Elasticsearch|nginx|OpenSSL|GCC|"
    r"Clang|Linux|Xcode|Swift|Kotlin|Scala|Gradle|Maven|webpack|Vite|Laravel|Symfony|numpy|pandas"
)
_NUMBERED = r"\d+(?:\.\d+)+(?:[-.]?(?:a|b|rc|alpha|beta|dev)[-.]?\d*)?"
_VERSION = rf"""
    {_BEFORE}v\d+\.\d+[\w.]*
  | (?<![\d.,/-])(?!\d{{1,3}}(?:\.\d{{3}})+(?!\.?\d))(?!{_IP}(?!\.?\d))
    \d+\.\d+\.\d+(?:[-+][0-9A-Za-z.]+)?
  | {_BEFORE}(?:[Vv]ersion|[Vv]ersión|[Vv]ersão|[Rr]elease|[Vv]er\.)\s?(?:n[°º]\s?)?v?\d+(?:\.\d+)*{_AFTER}
  | {_BEFORE}(?:[Vv]ersions|[Vv]ersionen|[Vv]ersiones|[Vv]ersões|[Rr]eleases)\s{_NUMBERED}{_AFTER}
  | (?:版本|バージョン)(?:号|是|は|为)?\s?v?\d+(?:\.\d+)*
  | (?<![\d.])\d+(?:\.\d+)+\s?(?:版|系)
  | {_BEFORE}(?:{_PRODUCTS})\s(?:>=|≥|<|>)?\s?v?\d+(?:\.\d+)*(?![\d%]|\s?(?:times|x{_AFTER}|%))
  | [A-Za-z0-9_\]-](?:==|~=|>=|@\^?~?)\d+\.\d+
"""


@cache
def _rules() -> Mapping[str, re.Pattern[str]]:
    """Compiled when the first text claims to be general: few do, and a hook pays for every import."""
    return {
        "a date": re.compile(_DATE, re.VERBOSE),
        "a path": re.compile(_PATH, re.VERBOSE),
        "a port": re.compile(_PORT, re.VERBOSE | re.IGNORECASE),
        "an address": re.compile(_ADDRESS),
        "a version": re.compile(_VERSION, re.VERBOSE),
        "a hash": re.compile(_HASH, re.VERBOSE | re.IGNORECASE),
    }


def bound_to(text: str) -> tuple[str, str] | None:
    """What binds a text to one place or time, and where it says so; None for a general one."""
    plain = unicodedata.normalize("NFKC", text)
    for what, rule in _rules().items():
        found = rule.search(plain)
        if found is not None:
            return what, found.group().strip()
    return None


def gated(new: NewMemory) -> NewMemory:
    """The memory with the level that its title and content have earned; a lower one comes with a notice."""
    if new.level is not Level.META_KNOWLEDGE:
        return new
    bound = bound_to("\n".join(filter(None, (new.title, new.content))))
    if bound is None:
        return new
    what, quoted = bound
    message = (
        f"The level is {Level.SEMI_ABSTRACT}: the text is bound to {what} ('{quoted[:LONGEST_QUOTED]}'), and "
        f"{Level.META_KNOWLEDGE} holds whatever those are."
    )
    notice = Notice("level_downgraded", message)
    return replace(new, level=Level.SEMI_ABSTRACT, notices=(*new.notices, notice))
