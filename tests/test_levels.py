"""The level gate: general knowledge stays general, what is bound to one place or time does not."""

import time
from pathlib import Path

import pytest
from telling import get, tell

from mem.caller import Caller
from mem.results import Changed, Stored
from mem.service import Service
from mem.truth.levels import bound_to
from mem.values import Actor, ActorKind, Kind, Level

BOUND: dict[str, tuple[str, ...]] = {
    "a date": (
        "Since 2026-04-01 the API answers on another host",
        "The freeze began on 10 May and nobody told the testers",
        "On May 10, 2026 the certificate ran out",
        "We moved to trunk-based work in April 2026",
        "The audit of 04/30/2026 asked for two reviewers",
        "Seit dem 1. April gilt die neue Regel",
        "Am 01.04.2026 wurde der Dienst umgezogen",
        "Ab März 2026 wird jede Woche ausgeliefert",
        "Depuis le 1er avril les jetons tournent chaque jour",
        "La migration du 3 mars 2026 a cassé les liens",
        "El 14 de abril de 2026 cambió el proveedor",
        "Desde mayo de 2026 se firma cada entrega",
        "Em 2 de março a fila parou",
        "Desde abril de 2026 usamos outra região",
        "2026年4月1日起使用新的网关",
        "从4月1日开始每天备份",
        "2026年4月からは二人で確認する",
        "5月10日に証明書が切れた",
        "The plan for Q3 2026 is to split the worker",
        "\uff12\uff10\uff12\uff16\uff0d\uff10\uff14\uff0d\uff10\uff11 was the cut-over",
    ),
    "a hash": (
        "Commit e10f842 broke the build, so never squash there",
        "The fault came in with 10f8464ab2c1",
        "Row 0190b3a2-7c1e-7def-8a10-0123456789ab is the one that leaks",
        "Der Fehler kam mit Commit 4a08891",
        "La régression vient du commit cb92aaa",
        "El error llegó con el commit 047239d",
        "O erro veio com o commit 795e99c4",
        "回归来自提交795e99c4",
        "コミット10f84643で壊れた",
    ),
    "a path": (
        "Always edit /etc/nginx/nginx.conf by hand",
        "Look into src/billing/tax.py before you touch rounding",
        "The keys lie in ~/.config/acme",
        "Run ./scripts/release before tagging",
        "Logs are in C:\\Logs\\app",
        "The handbook is at https://wiki.example.com/handbook",
        "Die Einstellungen stehen in config/app.yaml",
        "Les journaux sont dans /var/log/app",
        "Los registros están en /var/log/app",
        "As chaves ficam em /srv/keys/prod",
        "配置在/etc/app/config里",
        "設定は/etc/app/configにある",
    ),
    "a port": (
        "The gateway always answers on port 8080",
        "Ask localhost:3000 for the preview",
        "Only ports 443 and 80 are open",
        "Der Dienst lauscht auf Port 8080",
        "Le service écoute sur le port 8080",
        "El servicio escucha en el puerto 8080",
        "O serviço escuta na porta 8080",
        "网关监听端口8080",
        "服务在8080端口",
        "ゲートウェイはポート8080で待つ",
        "metrics.internal:9090 has the numbers",
        "It binds to :8443 by default",
    ),
    "a version": (
        "Python 3.11 is the oldest that we support",
        "The bug is gone since v2.4",
        "Pin apsw to 3.46.1",
        "Ab Version 2 ist das Feld Pflicht",
        "Depuis la version 2.1 le champ est obligatoire",
        "Desde la versión 3 el campo es obligatorio",
        "A partir da versão 2.0 o campo é obrigatório",
        "从版本2.1开始必须填写",
        "バージョン2.1から必須になった",
        "Postgres 16 vacuums better",
        "requests==2.31 has the fix",
    ),
}

GENERAL: tuple[str, ...] = (
    "Always review before merging",
    "Keep every port closed that nobody needs",
    "Write dates in ISO form, and say the time zone",
    "You may ask three people before you decide",
    "Only 2 may merge into the main branch; march on when both agree",
    "Pin every version, and never trust a hash that you did not compute yourself",
    "Two reviewers catch 80 % of the faults, a third one only 5 % more",
    "Ship small: 10 changes a day beat 1 change every 10 days",
    "A cache with a hit rate below 0.5 costs more than it gives; 1.5 times the memory buys little",
    "Errors cost 1.000.000 times more in production",
    "Alerts must wake somebody 24/7, from 18:30 to 06:30 too",
    "Prefer TCP/IP basics and client/server thinking over and/or tricks",
    "React/Next.js teams should agree on one way of fetching",
    "Name things after what they do: his/her/their code is read by others",
    "Never store secrets in a repository, use UTF-8 and SHA-256 everywhere",
    "Say no early; a facade deadlock decade defaced the best designs",
    "A support ticket, a report or an import 5 times retried is a design fault",
    "When a rule has 3 exceptions, it is the wrong rule (2019 taught us that)",
    "Close the books every April, before taxes",
    "Never bind a service to 0.0.0.0",
    "Use a ratio of 16:9 or 4:3 for slides",
    "Vor dem Zusammenführen immer gegenlesen lassen",
    "Jeden Port schließen, den niemand braucht; Versionen festschreiben",
    "Nach 3 Fehlversuchen abbrechen und nachdenken, im Mai wie im März",
    "Eine Abfrage über 0,5 Sekunden ist zu langsam, 1.5 ist ein Fehler",
    "Toujours relire avant de fusionner",
    "Fermer chaque port inutile et figer les versions",
    "Deux relecteurs trouvent 80 % des défauts, en mars comme en mai",
    "Revisar siempre antes de fusionar",
    "Cerrar todo puerto que nadie use y fijar las versiones",
    "Con 3 intentos fallidos hay que parar y pensar",
    "Revisar sempre antes de juntar",
    "Fechar toda porta que ninguém usa e fixar as versões",
    "Com 3 tentativas falhas, pare e pense",
    "合并之前一定要评审",
    "关闭不需要的端口，固定版本，一年四季都一样",
    "失败3次就停下来思考，每月备份2次",
    "マージの前に必ずレビューする",
    "使わないポートは閉じ、バージョンは固定する",
    "3回失敗したら止まって考える、毎月1回は休む",
)


def test_there_are_examples_enough() -> None:
    assert len(GENERAL) + sum(map(len, BOUND.values())) >= 60


@pytest.mark.parametrize(("what", "text"), [(what, text) for what, texts in BOUND.items() for text in texts])
def test_what_is_bound_to_one_place_or_time_is_seen(what: str, text: str) -> None:
    found = bound_to(text)
    assert found is not None and found[0] == what, (text, found)


@pytest.mark.parametrize("text", GENERAL)
def test_what_is_general_stays_general(text: str) -> None:
    assert bound_to(text) is None


# Through every door

TIED = "Since 2026-04-01 the gate is shut at night"


def told(answer: Stored | Changed) -> list[str]:
    return [notice.code for notice in answer.warnings]


@pytest.mark.parametrize("kind", [ActorKind.PERSON, ActorKind.AGENT])
def test_a_store_that_claims_too_much_is_downgraded_with_a_note(memory: Service, kind: ActorKind) -> None:
    caller = memory.of(Caller(Actor(kind), Path.cwd()))
    stored = caller.store(TIED, level=Level.META_KNOWLEDGE)
    assert (stored.action, told(stored)) == ("added", ["level_downgraded"])
    assert "2026-04-01" in stored.warnings[0].message
    assert get(memory, stored.id).level is Level.SEMI_ABSTRACT


def test_what_has_earned_its_level_keeps_it(memory: Service) -> None:
    stored = memory.store(GENERAL[0], level=Level.META_KNOWLEDGE, rationale="It saved us on 2026-04-01")
    assert (told(stored), get(memory, stored.id).level) == ([], Level.META_KNOWLEDGE)


def test_a_title_is_part_of_what_is_said(memory: Service) -> None:
    stored = memory.store("Always ask", kind=Kind.DECISION, title="Port 8080", level=Level.META_KNOWLEDGE)
    assert told(stored) == ["level_downgraded"]


@pytest.mark.parametrize("level", [Level.SEMI_ABSTRACT, Level.CONCRETE_TRACE])
def test_another_level_is_nobodys_claim(memory: Service, level: Level) -> None:
    stored = memory.store(TIED, level=level)
    assert (told(stored), get(memory, stored.id).level) == ([], level)


def test_a_batch_downgrades_the_items_that_claim_too_much(memory: Service) -> None:
    items = [{"content": text, "level": "meta_knowledge"} for text in (TIED, GENERAL[0])]
    tied, general = memory.store_batch(items).outcomes
    assert (told(tied), told(general)) == (["level_downgraded"], [])
    assert [get(memory, one.id).level for one in (tied, general)] == ["semi_abstract", "meta_knowledge"]


def test_an_update_cannot_raise_what_is_bound_nor_bind_what_is_raised(memory: Service) -> None:
    tied, general = tell(memory, TIED), tell(memory, GENERAL[0], level=Level.META_KNOWLEDGE)
    raised = memory.update(tied, level=Level.META_KNOWLEDGE)
    assert (told(raised), get(memory, tied).level) == (["level_downgraded"], Level.SEMI_ABSTRACT)
    bound = memory.update(general, content="Always review before merging v2.4")
    assert (told(bound), get(memory, general).level) == (["level_downgraded"], Level.SEMI_ABSTRACT)


def test_a_successor_has_to_earn_the_level_too(memory: Service) -> None:
    id_ = tell(memory, GENERAL[0], level=Level.META_KNOWLEDGE)
    changed = memory.supersede([id_], content="Review before merging into release/2.4 since May 3, 2026")
    assert "level_downgraded" in told(changed)
    assert changed.memories[-1].level is Level.SEMI_ABSTRACT


def test_a_long_text_is_judged_in_time() -> None:
    for part in ("a/", "1.", "/a", "0", "May ", "a.b", "f0", "-", "a-", "a", "1/", ": ", "12:", "端口 "):
        began = time.process_time()
        bound_to(part * (100_000 // len(part)))
        assert time.process_time() - began < 5, part
