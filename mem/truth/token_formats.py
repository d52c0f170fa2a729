"""The published formats of secrets: how each begins, what follows, and what it is called.

Each format is a label, the beginnings by which the text is looked through first, and what the whole looks
like. A beginning is cheap and starts with plain letters; a pattern may name the part that is the secret, else
all of it is. `SPOKEN` are formats whose alphabet has hyphens or underscores, so that words joined by these
must not pass for one. The sources are the providers' own documents and the lists of GitHub's secret scanning.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of secret.

    `spoken`: plain words could have its form. It starts at most `before`
    characters before its beginning, else there.
    """

    label: str
    beginnings: str
    pattern: str
    spoken: bool = False
    before: int = 0


# A token stands alone: no letter or digit before it, unless that ends an escape such as \n or %3D.
_ALONE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))"
_END = r"(?![A-Za-z0-9])"
_WORD_END = r"(?![A-Za-z0-9_-])"


def _token(label: str, beginnings: str, rest: str, *, spoken: bool = False) -> Format:
    return Format(label, beginnings, f"{_ALONE}(?:{beginnings}){rest}", spoken)


# Beginnings that tell enough, with what must follow at least.
_TOKENS = (
    _token("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9]{36,}"),
    _token("github-token", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59,}"),
    _token(
        "gitlab-token",
        "glpat-|gldt-|glrt-|glrtr-|glcbt-|glptt-|glft-|glimt-|glagent-|glsoat-|glffct-|gloas-",
        r"[A-Za-z0-9_.-]{18,}[A-Za-z0-9_-]",
        spoken=True,
    ),
    _token("gitlab-token", "GR1348941", r"[A-Za-z0-9_-]{20,}"),
    _token("aws-access-key", "AKIA|ASIA|ABIA|ACCA", rf"[A-Z2-7]{{16}}{_END}"),
    _token("google-api-key", "AIza", rf"[A-Za-z0-9_-]{{35}}{_WORD_END}"),
    _token("google-oauth-token", "ya29.", r"[A-Za-z0-9_-]{20,}", spoken=True),
    _token("google-oauth-token", "1//0", r"[A-Za-z0-9_-]{40,}"),
    _token("google-client-secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}", spoken=True),
    _token("anthropic-key", "sk-ant-", r"[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{20,}", spoken=True),
    _token("openrouter-key", "sk-or-v1-", r"[0-9a-f]{40,}"),
    _token("openai-key", "sk-proj-|sk-svcacct-|sk-admin-|sk-None-", r"[A-Za-z0-9_-]{20,}", spoken=True),
    _token("openai-key", "sk-", rf"[A-Za-z0-9]{{32,}}{_WORD_END}"),
    _token("groq-key", "gsk_", r"[A-Za-z0-9]{50,}"),
    _token("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    _token("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _token("replicate-token", "r8_", rf"[A-Za-z0-9]{{37}}{_WORD_END}"),
    _token("huggingface-token", "hf_|api_org_", rf"[A-Za-z0-9]{{34,40}}{_WORD_END}"),
    _token("langsmith-key", "lsv2_pt_|lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("stripe-key", "sk_live_|rk_live_|sk_test_|rk_test_|sk_org_", r"[A-Za-z0-9]{16,}"),
    _token("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    _token(
        "slack-token", "xoxb-|xoxp-|xoxa-|xoxo-|xoxs-|xoxr-|xoxc-|xoxd-", r"[A-Za-z0-9%-]{10,}", spoken=True
    ),
    _token("slack-token", "xapp-|xoxe-|xoxe.xoxb-|xoxe.xoxp-", r"\d-[A-Za-z0-9-]{20,}"),
    _token("npm-token", "npm_", rf"[A-Za-z0-9]{{36}}{_WORD_END}"),
    _token("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{40,}"),
    _token("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    _token("crates-token", "cio", rf"[A-Za-z0-9]{{32}}{_WORD_END}"),
    _token("docker-token", "dckr_pat_|dckr_oat_", r"[A-Za-z0-9_-]{27,}", spoken=True),
    _token("nuget-key", "oy2", rf"[a-z0-9]{{43}}{_WORD_END}"),
    _token("twilio-key", "SK|AC", rf"[0-9a-f]{{32}}{_WORD_END}"),
    _token("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _token("mailgun-key", "key-", rf"[0-9a-f]{{32}}{_WORD_END}"),
    _token("brevo-key", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _token("digitalocean-token", "dop_v1_|doo_v1_|dor_v1_", r"[0-9a-f]{64}"),
    _token("shopify-token", "shpat_|shpca_|shppa_|shpss_|shpua_|shpcr_", r"[0-9A-Fa-f]{32}"),
    _token("square-token", "sq0atp-|sq0csp-|sq0idp-", r"[A-Za-z0-9_-]{22,}", spoken=True),
    _token("cloudflare-token", "cfut_|cfat_|cfk_", r"[A-Za-z0-9_-]{40,}", spoken=True),
    _token("cloudflare-token", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{146}"),
    _token("vault-token", "hvs.|hvb.|hvr.", r"[A-Za-z0-9_-]{20,}", spoken=True),
    _token("databricks-token", "dapi", rf"[0-9a-f]{{32}}(?:-\d{{1,2}})?{_END}"),
    _token("linear-token", "lin_api_|lin_oauth_", r"[A-Za-z0-9]{32,}"),
    _token("atlassian-token", "ATATT3|ATCTT3", r"[A-Za-z0-9_=-]{50,}"),
    _token("atlassian-token", "ATBB", rf"[A-Za-z0-9]{{28,32}}{_WORD_END}"),
    _token(
        "doppler-token",
        "dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.",
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _token("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    _token("grafana-token", "glc_eyJ|eyJrIjoi", r"[A-Za-z0-9+/=_-]{32,}"),
    _token("sentry-token", "sntrys_eyJ", r"[A-Za-z0-9+/=_-]{40,}"),
    _token("sentry-token", "sntryu_", r"[0-9a-f]{64}"),
    _token("newrelic-key", "NRAK-", rf"[A-Z0-9]{{27}}{_WORD_END}"),
    _token("newrelic-key", "NRII-|NRRA-|NRSP-|NRIQ-", r"[A-Za-z0-9_-]{32,}"),
    _token("age-key", "AGE-SECRET-KEY-1|AGE-SECRET-KEY-PQ-1", r"[0-9A-Z]{50,}"),
    _token("supabase-key", "sbp_", r"(?:oauth_)?[0-9a-f]{40}"),
    _token("supabase-key", "sb_secret_", r"[A-Za-z0-9_-]{22,}", spoken=True),
    _token("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _token("figma-token", "figd_|figo_", r"[A-Za-z0-9_-]{36,}", spoken=True),
    _token("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    _token("planetscale-token", "pscale_tkn_|pscale_pw_|pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}", spoken=True),
    _token("fly-token", "fo1_|fm1r_|fm2_", r"[A-Za-z0-9_+/=-]{43,}"),
    _token("netlify-token", "nfp_", r"[A-Za-z0-9_]{36,}"),
    _token("render-key", "rnd_", rf"[A-Za-z0-9]{{28,40}}{_WORD_END}"),
    _token(
        "tailscale-key", "tskey-", r"(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,}CNTRL-[A-Za-z0-9]{16,}"
    ),
    _token("buildkite-token", "bkua_", r"[0-9a-z]{40}"),
    _token("circleci-token", "CCIPAT_|CCIPRJ_", r"[A-Za-z0-9]{20,}_[0-9a-f]{40}"),
    _token("contentful-token", "CFPAT-", r"[A-Za-z0-9_-]{43}"),
    _token("airtable-token", "pat", rf"[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}"),
    _token("dynatrace-token", "dt0c01.|dt0s", r"[A-Z0-9.]{20,}[A-Z0-9]{64}"),
    _token("artifactory-key", "AKCp|cmVmd", rf"[A-Za-z0-9]{{59,69}}{_END}"),
    _token("alibaba-access-key", "LTAI", rf"[A-Za-z0-9]{{16,24}}{_WORD_END}"),
    _token("1password-token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{100,}"),
    _token("1password-secret-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-(?:[A-Z0-9]{5}-){3}[A-Z0-9]{5}"),
    _token("mapbox-token", "sk.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    _token("jwt", "eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}"),
    _token(
        "jwt",
        "eyJ",
        r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}",
    ),
)

_NEW_LINE = r"(?:\s*\n[ \t>|#*]*|(?:\\[nr])+)"
_BASE64_BODY = r"(?:(?:\s|\\[nrt]|[\"'`+,>|#*])*+(?>[A-Za-z0-9+/]{20,}={0,2}))++"
_GAP = r"(?:\s|\\[nrt]|[\"'`+,>|#*])*+"
_AWS_FORTY = (
    r"(?P<secret>(?=[A-Za-z0-9/+]*[A-Z])(?=[A-Za-z0-9/+]*[a-z])(?=[A-Za-z0-9/+]*[0-9])[A-Za-z0-9/+]{40})"
    r"(?![A-Za-z0-9/+=])"
)

# What is told by what stands beside it.
_IN_CONTEXT = (
    Format(
        "private-key",
        "-----BEGIN ",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_GAP}(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID):[^\n\\]*+)*+{_BASE64_BODY}"
        rf"(?:{_NEW_LINE}=?[A-Za-z0-9+/]{{1,76}}={{0,2}}(?={_GAP}(?:-----END|\.\.\.|…|$)))*+"
        rf"(?:{_GAP}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    Format("private-key", "Private-Lines: ", rf"Private-Lines: \d+(?P<secret>{_BASE64_BODY})"),
    Format(
        "slack-webhook",
        "hooks.slack",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[A-Z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,}[A-Za-z0-9/]*)",
    ),
    Format(
        "discord-webhook",
        "discord.com/api|discordapp.com/api",
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<secret>\d{17,20}/[A-Za-z0-9_-]{60,})",
    ),
    Format(
        "teams-webhook",
        "webhook.office",
        r"webhook\.office(?:365)?\.com/webhookb?2?/(?P<secret>[0-9a-fA-F-]{36}@[0-9a-fA-F-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-fA-F-]{36}[A-Za-z0-9_/-]*)",
    ),
    Format(
        "discord-token",
        "discord|Discord|DISCORD|Bot ",
        rf"{_ALONE}[MNO][A-Za-z0-9_-]{{22,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}}{_WORD_END}",
        before=100,
    ),
    Format(
        "authorization",
        "Bearer|bearer|BEARER",
        r"(?i:bearer)(?:\s|%20|\+){1,3}(?P<secret>(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/-]{20,}={0,2})",
        spoken=True,
    ),
    Format(
        "authorization",
        "uthorization|UTHORIZATION",
        r"(?i:uthorization)[\"'`\]]{0,2}\s{0,3}[:=,]\s{0,3}[\"'`]{0,2}(?i:basic|token|apikey|api-key|bot|key|splunk)"
        r"[ =]{1,3}[\"']?(?P<secret>[A-Za-z0-9._~+/-]{8,}={0,2})",
        spoken=True,
    ),
    Format("telegram-token", ":AA", rf"(?<![0-9])[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}}{_WORD_END}", before=12),
    Format(
        "azure-storage-key",
        "AccountKey=|SharedAccessKey=",
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    Format("azure-sas", "sig=", r"(?<=[?&;\"' ])sig=(?P<secret>[A-Za-z0-9%+/]{40,}(?:={0,2}))"),
    Format(
        "azure-client-secret",
        "Q~",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
        before=6,
    ),
    Format(
        "mailchimp-key",
        "-us1|-us2|-us3|-us4|-us5|-us6|-us7|-us8|-us9",
        rf"{_ALONE}[0-9a-f]{{32}}-us[0-9]{{1,2}}{_WORD_END}",
        before=34,
    ),
    Format("newrelic-key", "NRAL", rf"{_ALONE}[0-9a-f]{{36}}NRAL{_END}", before=38),
    Format(
        "terraform-token",
        ".atlasv1.",
        rf"{_ALONE}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,}}",
        before=16,
    ),
    Format(
        "cloudflare-token",
        "cloudflare|Cloudflare|CLOUDFLARE|CF_API",
        r"(?i:cloudflare|CF_API)[\w .-]{0,30}?[\"'`]?\s{0,3}[=:]\s{0,3}[\"'`]?"
        r"(?P<secret>(?=[\w-]*[0-9])(?=[\w-]*[A-Z])[A-Za-z0-9_-]{40}|[0-9a-f]{37})" + _WORD_END,
        spoken=True,
    ),
    Format(
        "aws-secret-key",
        "aws|AWS|Aws|secret|Secret|SECRET",
        r"(?i:aws_?secret|secret[_ ]?access[_ ]?key|secret[_ ]?key|aws[\w -]{0,20}secret)"
        r"[\w -]{0,20}[\"'`]{0,2}\s{0,3}(?:[=:]|=>|is)?\s{0,3}[\"'`]{0,2}(?<![A-Za-z0-9/+])" + _AWS_FORTY,
    ),
    Format(
        "aws-secret-key",
        "AKIA|ASIA",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}[\s\"'`:;,/|]{1,4}(?:[a-z_ -]{0,30}[=: ]{0,3}[\"'`]?)?"
        + _AWS_FORTY,
    ),
)
FORMATS = (*_IN_CONTEXT, *_TOKENS)
