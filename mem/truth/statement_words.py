"""Closed lists for comparing two statements: what denies, what are opposites, what brings in a value.

In lower case and without accents, as `mem.truth.statements` compares them. English, German, French, Spanish,
Portuguese, Chinese and Japanese are whole; Russian has its negations.
"""

from collections.abc import Iterable


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATORS = {
    "en": _listed("no not never without cannot none nobody nothing neither nowhere hardly non unable"),
    "de": _listed(
        "nicht kein keine keinen keinem keiner keines nie niemals ohne nichts niemand nirgends weder"
    ),
    "fr": _listed("pas jamais sans aucun aucune rien plus guere personne non ni"),
    "es": _listed("no nunca jamas sin ningun ninguna ninguno nada nadie tampoco ni"),
    "pt": _listed("nao nunca jamais sem nenhum nenhuma nada ninguem tampouco nem"),
    "ru": _listed("не нет никогда без нельзя никто ничего"),
}
# A second one of the same clause only strengthens the first: no hay ninguna, não há nada.
STRENGTHENING = {
    "es": _listed("nunca jamas ningun ninguna ninguno nada nadie tampoco ni"),
    "pt": _listed("nunca jamais nenhum nenhuma nada ninguem tampouco nem"),
    "fr": _listed("jamais aucun aucune rien plus guere personne ni"),
    "ru": _listed("никогда никто ничего"),
}
WITHOUT = _listed("without ohne sans sin sem без")
# These deny in French only beside "ne".
NEEDS_NE = _listed("plus personne rien aucun aucune ni")
NOT_DENYING = (
    r"\bnot only\b|\bnot just\b|\bwhether or not\b|\bno\. ?(?=\d)|\bno matter\b|\bnicht nur\b"
    r"|\bnon seulement\b|\bno solo\b|\bnao so\b|\bnao apenas\b|\bpas seulement\b"
    r"|\bsans doute\b|\bsin embargo\b|\bsem duvida\b"
)

# Chinese and Japanese: what only looks like a negation, and then what is one.
NO_HAN_NEGATION = (
    r"不同|不断|不斷|不过|不過|不仅|不僅|不但|不错|不錯|不久|不管|不论|不論|差不多|对不起|不只"
    r"|无论|無論|无线|無線|未来|未來|没收|[特区區类類级級分识識个個差性]别|别[的名人]|非常"
    r"|除非|必ず|まず|ずつ|はず|ずっと|いずれ|わずか|少ない|少なく|すくな|危ない|危なく"
    r"|かもしれない|かもしれません|間違いない|たまらない|なければ(?:なら|いけ)(?:ない|ません)"
    r"|なくては(?:なら|いけ)(?:ない|ません)|ないと(?:いけ|なら)(?:ない|ません)|不可欠"
)
HAN_NEGATION = (
    r"并非|禁止|不得|不可|不能|不要|不会|不|没有|沒有|没|沒|无需|無需|无须|无|無|勿|莫|未|别"
    r"|別(?=[぀-ヿ]*る)|非|ではなく|ではない|はいけない|はいけません|ありません|ません|なくて"
    r"|なくなった|なかった|ない|なし(?=[でにの、。]|$)|ずに|ぬ(?=[。、]|$)"
)

# An opposite counts as the negation of the other: what is not allowed is forbidden. A `;` ends a pair.
OPPOSITES = """
    enable enabled enables enabling activated active true | disable disabled disables disabling
    deactivated inactive false ; allow allowed allows permitted permit | forbid forbidden
    forbids prohibited prohibits prohibit banned disallowed denied ; required mandatory compulsory |
    optional voluntary unnecessary ; use | avoid ; works | broken fails ; likes loves | dislikes hates ;
    valid | invalid ; aktiviert eingeschaltet aktiv | deaktiviert ausgeschaltet abgeschaltet inaktiv
    ; erlaubt gestattet zulassig erlauben | verboten untersagt unzulassig verbieten ; pflicht
    notwendig erforderlich | optional freiwillig ; active activee actives activees | desactive
    desactivee desactives desactivees ; autorise autorisee autorises autorisees permis | interdit
    interdite interdits interdites defendu ; obligatoire obligatoires | facultatif facultative
    facultatifs facultatives ; activado activada activados activadas | desactivado desactivada
    desactivados desactivadas ; permitido permitida permitidos permitidas permite | prohibido prohibida
    prohibidos prohibidas proibido proibida proibidos proibidas prohibe ; obligatorio obligatoria
    obrigatorio obrigatoria | opcional opcionales facultativo facultativa ; ativado ativada ativados
    ativadas ligado ligada | desativado desativada desativados desativadas desligado desligada
"""
HAN_OPPOSITES = """
    启用 开启 打开 開啟 啟用 | 禁用 关闭 關閉 停用 ; 允许 允許 可以 許可 | 禁止 ; 必须 必須 必填 | 可选
    可選 選填 ; 有効 | 無効 ; 可能 | 不可能 ; 必要 | 不要
"""

# Members of one class exclude each other: a `;` ends a class, a `|` a member.
CLASSES = """
    monday | tuesday | wednesday | thursday | friday | saturday | sunday ; montag | dienstag | mittwoch
    | donnerstag | freitag | samstag sonnabend | sonntag ; lundi | mardi | mercredi | jeudi | vendredi |
    samedi | dimanche ; lunes | martes | miercoles | jueves | viernes | sabado sabados | domingo
    domingos ; segunda | terca | quarta | quinta | sexta | sabado | domingo ; 周一 星期一 週一 | 周二
    星期二 週二 | 周三 星期三 週三 | 周四 星期四 週四 | 周五 星期五 週五 | 周六 星期六 週六 | 周日
    星期日 周天 星期天 週日 ; 月曜 | 火曜 | 水曜 | 木曜 | 金曜 | 土曜 | 日曜 ; morning mornings | noon
    midday | afternoon afternoons | evening evenings | night nights midnight ; morgens | mittags |
    nachmittags | abends | nachts ; matin | midi | soir | nuit ; manana | tarde | noche ; manha | tarde
    | noite ; 早上 上午 早晨 | 中午 | 下午 | 晚上 夜里 ; 朝 午前 | 昼 | 午後 | 夕方 | 夜 晩 ; hourly |
    daily | weekly | monthly | yearly annually | nightly ; stundlich | taglich | wochentlich | monatlich
    | jahrlich ; before | after ; vor | nach ; avant | apres ; antes | despues depois ; 之前 以前 | 之后
    以后 之後 以後 ; increase increases increased | decrease decreases decreased ; minimum | maximum ;
    above | below ; public | private ; offentlich | privat ; publico publica | privado privada ; 公开 |
    私有 ; synchronous synchronously | asynchronous asynchronously ; manually manual | automatically
    automatic ; manuell | automatisch ; ascending | descending ; uppercase | lowercase ; left | right ;
    links | rechts ; gauche | droite ; izquierda | derecha ; esquerda | direita ; odd | even ; spring |
    summer | autumn | winter ; red rot rouge rojo roja vermelho | green grun vert verde | blue blau bleu
    azul | yellow gelb jaune amarillo | black schwarz noir negro preto | white weiss blanc blanco branco
"""
MONTHS = """
    january jan januar janvier enero janeiro ; february feb februar fevrier febrero fevereiro ; march
    marz mars marzo marco ; april abril avril ; may mai mayo maio ; june juni juin junio junho ; july
    juli juillet julio julho ; august aout agosto ; september sept septembre septiembre setembro ;
    october oct oktober octobre octubre outubro ; november nov novembre noviembre novembro ; december
    dec dezember decembre diciembre dezembro
"""

# What brings in a value: after one of these, another word makes another statement.
INTRODUCING = _listed(
    """
    use uses using used run runs stored stores store kept keep keeps lives live located hosted hosts
    deployed listens written named called prefers prefer set defaults configured belongs stands saved
    built moved verwenden verwendet nutzen nutzt benutzt lauft liegt liegen steht stehen befindet
    gespeichert gehostet heisst managed verwalten verwaltet geres gerees gestionan gestiona geridos
    geridas gerimos shipped sent goes landen landet geschickt gesendet partent envoye envoyes envoyee
    envoyees enviado enviada enviados enviadas envian vai bevorzugt wohnt aufbewahrt utilise utilisent
    utilisons repose reposent heberge hebergee heberges tourne stocke stockee stockes conserve range
    situe situee habite ecrit ecrite prefere trouve usa usan usamos utiliza utilizan alojada alojado
    guarda guardan guardado guardada almacena almacenan prefiere vive encuentra escrito escrita ejecuta
    utilizam armazena armazenado mora fica corre
    """
)
# "X of Y is Z" gives one value; "the cat is black" says one of many things.
COPULAS = _listed("is = : est es e ist sont sind are")
ATTRIBUTES = _listed(
    """
    of 's von des der du de del do da default main primary name favourite favorite preferred standard capital
    password owner address version
    """
)
LOCATING = _listed("esta estan estao sont est se ist sind is are")
LOCATED_BY = _listed("in at en a au chez em bei dans sur im am auf on na no sous with by via")
PURPOSES = _listed("for fur zum zur pour para wegen because if when wenn falls quand cuando quando si se")
HAN_INTRODUCING = frozenset("用于在叫是为給给归到由はにへ")
# With these there may be many values: what depends on one thing may depend on another.
HAN_MANY = ("依存", "依赖", "対応", "支持", "包含", "含", "好き", "喜欢", "サポート")
# Things that come in many: a program that runs on one of them may run on another.
PLATFORMS = _listed("windows macos linux android ios firefox chrome safari edge ubuntu debian")
# Whoever has the role is its only holder.
ROLES = _listed(
    """
    lead owner responsible charge maintainer manager ceo cto owns leads chairs zustandig verantwortlich
    leitet leiter leiterin betreut responsable responsables dirige chef encargado encargada lider
    responsavel
    """
)
HAN_ROLES = ("负责", "主管", "队长", "担当", "責任者")

# A number after one of these tells which one is meant, and is no statement about it.
NUMBERED = _listed(
    """
    sprint issue ticket pr bug task step chapter room phase episode line lesson week quarter iteration
    milestone story build job case invoice order page section article house schritt kapitel raum zimmer
    woche rechnung auftrag seite aufgabe vorgang absatz etape chapitre chambre semaine facture commande
    tache paso capitulo sala semana factura pedido tarea passo quarto fatura tarefa #
    """
)
HAN_NUMBERED = (
    *("第", "工单", "订单", "发票", "任务", "步骤", "迭代", "冲刺", "阶段", "房间", "问题", "缺陷", "需求"),
    *("チケット", "スプリント", "課題", "手順", "フェーズ", "部屋", "注文", "請求書"),
)

# The order of what stands left and right of one of these is the statement.
RELATING = _listed(
    """
    than over instead rather not before after als statt anstatt vor nach que au lieu plutot avant apres en vez
    lugar antes despues em inves depois do 比 より 而 先
    """
)
# Words that strengthen, soften or fill and change nothing; and verbs that mean little more than "there is".
EMPTY = _listed(
    """
    dia day jour tag always automatically only just also now currently today still both every each all
    any new own please simply must shall should needs need requires required require works work working
    has have having gets get got does done is are was be been being will immer stets automatisch nur
    auch jetzt derzeit heute noch jeder jede jedes jeden jedem alle muss mussen soll sollen braucht
    brauchen benotigt wird werden hat haben ist sind bekommt erst toujours automatiquement seulement
    aussi maintenant actuellement chaque tous toutes tout doit doivent faut il exige est sont a ont fait
    font se etre siempre automaticamente solo tambien ahora actualmente cada todos todas debe deben hay
    que requiere funciona es son esta estan tiene tienen ser sempre so tambem agora atualmente deve
    devem preciso sao tem
    """
)
HAN_EMPTY = frozenset("是为的了着过地得们吧呢啊嘛也都就还会要将被把个次所之于以其请自动")


def members(text: str) -> dict[str, tuple[int, int]]:
    """For each word of a list of classes: the number of its class, and its place in it."""
    return {
        word: (number, place)
        for number, group in enumerate(text.split(";"))
        for place, words in enumerate(group.split("|"))
        for word in words.split()
    }


def longest_first(words: Iterable[str]) -> str:
    """A pattern of alternatives in which no word hides a longer one."""
    return "|".join(sorted(words, key=len, reverse=True))
