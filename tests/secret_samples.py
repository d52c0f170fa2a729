"""Secrets of every published format, made up from a fixed seed: none of them stands in any file."""

import random
import string

_random = random.Random(20_260_401)  # noqa: S311  (nothing here is to be kept secret)
_HEX = "0123456789abcdef"
_WORD = string.ascii_letters + string.digits
_CAPITALS = string.ascii_uppercase + "234567"


def _some(count: int, alphabet: str = _WORD) -> str:
    return "".join(_random.choice(alphabet) for _ in range(count))


def _lines(count: int) -> str:
    return "\n".join(_some(64) for _ in range(count))


def _key(kind: str, *, head: str = "", joint: str = "\n") -> str:
    body = f"-----BEGIN {kind}-----\n{head}{_lines(6)}\n{_some(30)}==\n-----END {kind}-----"
    return body.replace("\n", joint)


GITHUB = "ghp_" + _some(36)

# Label and secret; what stands in the text beside it, if that is needed to tell, is in SURROUNDED.
PLAIN: tuple[tuple[str, str], ...] = (
    ("github-token", GITHUB),
    *(("github-token", f"gh{kind}_{_some(36)}") for kind in "ousr"),
    ("github-token", f"github_pat_{_some(22)}_{_some(59)}"),
    ("gitlab-token", "glpat-" + _some(20)),
    ("aws-access-key", "AKIA" + _some(16, _CAPITALS)),
    ("aws-access-key", "ASIA" + _some(16, _CAPITALS)),
    ("google-api-key", "AIza" + _some(35)),
    ("google-oauth-token", "ya29." + _some(60)),
    ("google-client-secret", "GOCSPX-" + _some(28)),
    ("anthropic-key", f"sk-ant-api03-{_some(93)}AA"),
    ("openai-key", "sk-" + _some(48)),
    ("openai-key", "sk-proj-" + _some(80)),
    ("stripe-key", "sk_live_" + _some(24)),
    ("stripe-key", "rk_live_" + _some(24)),
    ("stripe-webhook-secret", "whsec_" + _some(32)),
    ("slack-token", f"xoxb-{_some(12, string.digits)}-{_some(12, string.digits)}-{_some(24)}"),
    ("npm-token", "npm_" + _some(36)),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + _some(120)),
    ("huggingface-token", "hf_" + _some(34, string.ascii_letters)),
    ("twilio-key", "SK" + _some(32, _HEX)),
    ("twilio-key", "AC" + _some(32, _HEX)),
    ("sendgrid-key", f"SG.{_some(22)}.{_some(43)}"),
    ("telegram-token", f"{_some(10, '123456789')}:AA{_some(33)}"),
    ("digitalocean-token", "dop_v1_" + _some(64, _HEX)),
    ("shopify-token", "shpat_" + _some(32, _HEX)),
    ("mailgun-key", "key-" + _some(32, _HEX)),
    ("mailchimp-key", f"{_some(32, _HEX)}-us21"),
    ("vault-token", "hvs." + _some(24)),
    ("databricks-token", "dapi" + _some(32, _HEX)),
    ("linear-token", "lin_api_" + _some(40)),
    ("atlassian-token", "ATATT3" + _some(186)),
    ("doppler-token", "dp.pt." + _some(43)),
    ("grafana-token", f"glsa_{_some(32)}_{_some(8, _HEX)}"),
    ("sentry-token", "sntrys_eyJ" + _some(80)),
    ("newrelic-key", "NRAK-" + _some(27, string.ascii_uppercase + string.digits)),
    ("age-key", "AGE-SECRET-KEY-1" + _some(58, string.ascii_uppercase + string.digits)),
    ("azure-client-secret", f"{_some(3)}8Q~{_some(34)}"),
    ("jwt", f"eyJ{_some(33)}.eyJ{_some(80)}.{_some(43)}"),
    ("private-key", _key("RSA PRIVATE KEY")),
    ("private-key", _key("PRIVATE KEY", joint="\\n")),
    ("private-key", _key("OPENSSH PRIVATE KEY")),
    ("private-key", _key("EC PRIVATE KEY", head="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n")),
    ("private-key", _key("PGP PRIVATE KEY BLOCK", head="Version: GnuPG v2\n\n")),
    ("private-key", _key("RSA PRIVATE KEY").partition("\n-----END")[0]),
    ("private-key", _key("RSA PRIVATE KEY").partition("KEY-----\n")[2]),
)


def _beside(label: str, text: str, secret: str) -> tuple[str, str, str]:
    return label, secret, text.replace("{}", secret)


# Label, secret, and a text with it that says what it is.
_FORTY = _some(38) + "/1"
SURROUNDED: tuple[tuple[str, str, str], ...] = (
    _beside("aws-secret-key", "aws_secret_access_key = {}", _FORTY),
    _beside("aws-secret-key", f"AKIA{_some(16, _CAPITALS)} / {{}}", _FORTY),
    _beside(
        "slack-webhook",
        "https://hooks.slack.com/services/{} posts to #ops",
        f"T{_some(8, _CAPITALS)}/B{_some(8, _CAPITALS)}/{_some(24)}",
    ),
    _beside(
        "discord-webhook", "https://discord.com/api/webhooks/{}", f"{_some(18, '123456789')}/{_some(68)}"
    ),
    _beside("discord-token", "The Discord bot logs in with {} now", f"M{_some(23)}.{_some(6)}.{_some(30)}"),
    _beside(
        "azure-storage-key", "AccountName=a;AccountKey={};EndpointSuffix=core.windows.net", _some(86) + "=="
    ),
    _beside("azure-sas", "https://a.blob.core.windows.net/c?sv=2022&sig={}", _some(43) + "%3D"),
    _beside("cloudflare-token", "CLOUDFLARE_API_TOKEN={}", _some(37) + "Z9-"),
    _beside("url-password", "postgres://app:{}@db.internal:5432/app", "s3cr3t"),
    _beside("url-password", "postgres://u:{}@h", "pw"),
    _beside("url-password", "redis://:{}@cache:6379/0", "hunter2"),
    _beside("url-password", "mysql+pymysql://u:{}@h/db?charset=utf8", "p@ss"),
    _beside("authorization", "Authorization: Bearer {}", _some(40)),
    _beside("authorization", "-H 'Authorization: Basic {}'", "YWRtaW46aHVudGVyMg=="),
    _beside("password", "password={}", "hunter2"),
    _beside("password", 'DB_PASSWORD="{}"', "Tr0ub4dor&3"),
    _beside("password", "Passwort: {}", "Sommer2024!"),
    _beside("password", "数据库密码：{}，请勿外传", "Ab12cd34"),
    _beside("password", '{"user": "a", "password": "{}"}', "p4ssw0rd!x"),
    _beside("password", "mysql -u root --password {} shop", "S3cur3PW9"),
    _beside("password", "jdbc:postgresql://h/db?user=a&password={}&ssl=true", "b1c2d3e4"),
    _beside("password", "Server=h;User=sa;Password={};Encrypt=true", "yourStr0ng1Q9"),
    _beside("api-key", "api_key = {}", _some(24)),
    _beside("api-key", "X-Api-Key: {}", _some(32, _HEX)),
    _beside("api-key", "clientSecret: '{}'", _some(32)),
)
