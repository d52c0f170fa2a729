"""What has the form of a secret and is none: placeholders, names, references to where the secret is kept."""

import re

_PLACEHOLDER = re.compile(
    r"example|placeholder|change[-_]?(?:me|it)|redacted|dummy|<|\*{3}|\.{3}|…|x{5,}|0{10,}"
    r"|(?:your|my|insert|replace)[-_]?(?:own|api|access|auth|secret|token|key|pass|pw|github|db|user)",
    re.IGNORECASE,
)
# Words, abbreviations and small numbers, joined: a name that somebody gave, or prose.
_WORD = r"(?:[a-z]+|[A-Z][a-z]+|[A-Z]+)(?:v?\d{1,2})?|v?\d{1,4}"
_WORDS = re.compile(rf"(?:{_WORD})(?:[-_.:/](?:{_WORD}))*[-_.:/]*", re.ASCII)
_NAME = re.compile(rf"(?:{_WORD})(?:[-_.:/](?:{_WORD}))+", re.ASCII)
_ANY_PASSWORD = re.compile(
    r"(?:[\w-]*[-_])?(?:password|passwd|pass|pwd|passwort|kennwort|contraseña|senha|motdepasse|mdp|密码|token)"
    r"|[$%{(\[:*].*|x{3,}|\.+",
    re.IGNORECASE,
)
# Algorithms, encodings, products, units, places where secrets are kept: what people say about passwords.
_SAID = re.compile(
    r"""(?:argon2|bcrypt|scrypt|pbkdf2|hmac|sha-?\d|md5|aes-?\d|rsa-?\d|ed25519|x509|base-?\d\d|utf-?\d|rfc-?\d
      |iso-?\d|tls-?v?\d|ipv[46]|1password|[2m]fa|webauthn|u2f|fido2|ec2|u?int\d|float\d|https?:|arn:|op:|s3:
      |ssm:|vault[:/]|ref\+|enc[\[(]|0x[0-9a-f]{1,8}$)
      |(?:oauth|https?|http|totp|otp|k8s|s3|ssm|kms|vault|env|file|keyring|keychain|secret|secrets|varchar|char
      |string|min|max|minimum|maximum|at|exactly|version|none|null|true|false|todo|process|os|system|config
      |setting|settings|self|this|arg|args|opts|options|var|local|data|module|param|params|req|request|import
      |get|read|load|random|generate|hash|encrypt|decrypt|test|demo|sample)(?![a-z])
      |[0-9]+[-_+]?(?:chars?|characters?|bytes?|bits?|days?|hours?|min|minutes?|months?|weeks?|years?|times?
      |zeichen|tage|stunden|caracteres|caractères|[dhmsx]|ms|[kmg]b)\b
      |[0-9]{4}-[0-9]{2}-[0-9]{2}
      |(?:foo|foobar|bar|baz|abc|asdf|password|passwd|pass|passwort|pwd|senha|contraseña|token|key|user|admin
      |root|some|any)[-_]?[0-9]{0,6}[!.]?$""",
    re.VERBOSE | re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"""\$[A-Za-z_][\w:.-]*|%[A-Z_a-z]\w*%|@[A-Z_]+@   # $DB_PASSWORD, %DB_PASSWORD%, @DB_PASSWORD@
      | \{.*|\$[({].*|<.*|\[.*|\(.*|!(?:Ref|Sub|GetAtt|secret|vault)\b.*
      | (?:/|\.{1,2}/|~/|[A-Za-z]:\\).*          # a path
      | [\w.+-]+@[\w-]+\.[\w.]+                  # an address
      | [A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_]\w*)+   # user.password
      | [A-Za-z_$][\w$.:]*[(\[].*                # a call
      | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+            # DB_PASSWORD_2
      | [a-z_]\w*(?:(?<=[a-z0-9])[A-Z]|_)\w*     # a variable, if it has a telling name
    """,
    re.VERBOSE | re.ASCII,
)
_TELLING = re.compile(r"pass|pwd|pw\b|secret|token|key|cred|auth", re.IGNORECASE)
_HASHED = re.compile(r"\$[A-Z][A-Z0-9_]*$|\$(?:2[abxy]|argon2\w*|[156y]|scrypt|pbkdf2[\w-]*)\$|\{[A-Z0-9]+\}")


def is_placeholder(value: str) -> bool:
    """Whether it says itself that it stands for another value."""
    return _PLACEHOLDER.search(value) is not None


def is_words(value: str) -> bool:
    """Whether it is made of words and small numbers: a name that somebody gave, or prose."""
    return _WORDS.fullmatch(value) is not None


def stands_for_password(value: str) -> bool:
    """Whether it is what people write into an address instead of a password."""
    return _ANY_PASSWORD.fullmatch(value) is not None


def is_chosen(value: str) -> bool:
    """Whether a value has letters with digits or marks, and is no placeholder and nothing said of one."""
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    marks = len(value) >= 8 and any(mark in value for mark in "!@#$%^&*?+~=")
    if not letters or not (digits or marks) or not value.isprintable():
        return False
    said = _PLACEHOLDER.search(value) or _SAID.match(value) or _NAME.fullmatch(value)
    return not said and not _quoted_reference(value)


def _quoted_reference(value: str) -> bool:
    return value.startswith(("${", "{{", "$(", "%(", "<", "[")) or _HASHED.match(value) is not None


def refers(value: str) -> bool:
    """Whether a bare value is code, a path or a variable rather than a text."""
    found = _REFERENCE.fullmatch(value)
    if found is None:
        return False
    is_variable = value[0] in "abcdefghijklmnopqrstuvwxyz_" and value.replace("_", "").isalnum()
    return not is_variable or _TELLING.search(value) is not None
