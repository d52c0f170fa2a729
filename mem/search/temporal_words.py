"""The words of time in seven European languages, and those of Chinese and Japanese.

A table per language: entries are divided by commas, alternatives by "|". Words are looked up without accents
and in lower case; an entry of several words stands for them whatever divides them (avant-hier, l'altro ieri).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache

from mem.search.stopwords import without_marks


class Unit(StrEnum):
    """A length of time that phrases count in."""

    MINUTE = auto()
    HOUR = auto()
    DAY = auto()
    WEEK = auto()
    WEEKEND = auto()
    MONTH = auto()
    QUARTER = auto()
    YEAR = auto()


UNITS = tuple(Unit)


class Kind(StrEnum):
    """What a word does in a phrase."""

    RELATIVE = auto()  # yesterday; the value counts days
    NUMBER = auto()
    DAY = auto()  # of a month
    YEAR = auto()
    UNIT = auto()  # its place in UNITS
    MONTH = auto()
    SHORT_MONTH = auto()  # Mar, Dec: a month only beside a day or year
    WEEKDAY = auto()  # Monday is 0
    SEASON = auto()  # spring is 0
    WEAK_SEASON = auto()  # spring, fall: mostly something else after a mere "in"
    QUARTER = auto()  # Q3
    LAST = auto()  # before its noun; the value counts back
    LAST_AFTER = auto()
    PAST = auto()  # "the past week" is seven days, "last week" Monday to Sunday
    THIS = auto()
    AGO_BEFORE = auto()
    AGO_AFTER = auto()
    AGO_ONE = auto()  # неделю назад, without a number
    IN = auto()
    LINK = auto()


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a word. `languages` is a set of bits; the words of a phrase must share a language."""

    kind: Kind
    value: int
    languages: int


ANY_LANGUAGE = -1


@dataclass(frozen=True, slots=True)
class _Table:
    days: str  # today, yesterday, the day before
    numbers: str  # one to twelve, articles and "a few" too
    units: str  # in the order of Unit
    months: str
    weekdays: str
    seasons: str
    last: str
    this: str
    within: str  # in, during, of
    links: str
    last_after: str = ""
    last_but_one: str = ""
    last_but_one_after: str = ""
    past: str = ""
    ago_before: str = ""
    ago_after: str = ""
    ago_one: str = ""
    short_months: str = ""
    weak_seasons: str = ""


_TABLES = (
    _Table(  # English
        days="today|tonight|this morning|this afternoon|this evening,yesterday|last night,"
        "day before yesterday",
        numbers="a|an|one,two|couple|couple of|a couple|a couple of,three|few|a few|several,four,five,six,"
        "seven,"
        "eight,nine,ten,eleven,twelve",
        units="minute|minutes|min|mins,hour|hours,day|days,week|weeks,weekend|weekends,month|months,"
        "quarter|quarters,year|years",
        months="january,february,march,april,may,june,july,august,september,october,november,december",
        short_months="jan,feb,mar,apr,,jun,jul,aug,sep|sept,oct,nov,dec",
        weekdays="monday|mon,tuesday|tue|tues,wednesday|wed,thursday|thu|thurs,friday|fri,saturday|sat,"
        "sunday|sun",
        seasons=",summer,autumn,winter",
        weak_seasons="spring,,fall,",
        last="last|previous",
        last_but_one_after="before last",
        past="past",
        this="this|current",
        within="in|during|of|throughout|since|early|mid|late",
        links="the|of|early|mid|late|year|month",
        ago_after="ago|back|earlier",
    ),
    _Table(  # German
        days="heute,gestern,vorgestern",
        numbers="ein|eine|einem|einen|einer|eins,zwei|paar|ein paar|einem paar,drei|einigen|wenigen,vier,"
        "funf,sechs,"
        "sieben,acht,neun,zehn,elf,zwolf",
        units="minute|minuten,stunde|stunden,tag|tage|tagen|tages,woche|wochen,wochenende|wochenenden,"
        "monat|monate|monaten|monats,quartal|quartale|quartalen|quartals,jahr|jahre|jahren|jahres",
        months="januar|janner,februar|feber,marz,april,mai,juni,juli,august,september,oktober,november,"
        "dezember",
        short_months="jan,feb,mar,apr,,jun,jul,aug,sep|sept,okt,nov,dez",
        weekdays="montag,dienstag,mittwoch,donnerstag,freitag,samstag|sonnabend,sonntag",
        seasons="fruhling|fruhjahr,sommer,herbst,winter",
        last="letzte|letzten|letzter|letztes|letztem|vergangene|vergangenen|vergangener|vergangenes|"
        "vergangenem|"
        "vorige|vorigen|voriger|voriges|vorigem",
        last_but_one="vorletzte|vorletzten|vorletzter|vorletztes|vorletztem",
        this="diese|diesen|dieser|dieses|diesem",
        within="im|in|wahrend|vom|seit|anfang|mitte|ende",
        links="der|des|den|dem|jahr|jahre|monat|anfang|mitte|ende",
        ago_before="vor",
    ),
    _Table(  # French
        days="aujourd hui|ce matin|ce soir,hier,avant hier",
        numbers="un|une,deux,trois|quelques,quatre,cinq,six,sept,huit,neuf,dix,onze,douze",
        units="minute|minutes,heure|heures,jour|jours,semaine|semaines,week end|week ends|weekend,mois,"
        "trimestre|trimestres,an|ans|annee|annees",
        months="janvier,fevrier,mars,avril,mai,juin,juillet,aout,septembre,octobre,novembre,decembre",
        weekdays="lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche",
        seasons="printemps,ete,automne,hiver",
        last="dernier|derniere|derniers|dernieres",
        last_after="dernier|derniere|passe|passee",
        this="ce|cet|cette",
        within="en|au|du|de|d|pendant|durant|depuis|debut|fin|mi",
        links="le|la|l|de|du|l|annee|an|mois|cours|debut|fin|mi",
        ago_before="il y a|y a",
    ),
    _Table(  # Spanish
        days="hoy|esta manana,ayer|anoche,anteayer|antier|antes de ayer",
        numbers="un|una|uno,dos|un par de,tres|unos|unas|algunos|algunas|unos pocos|unas pocas,cuatro,"
        "cinco,seis,"
        "siete,ocho,nueve,diez,once,doce",
        units="minuto|minutos,hora|horas,dia|dias,semana|semanas,fin de semana|fines de semana,mes|meses,"
        "trimestre|trimestres,ano|anos",
        months="enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre|setiembre,octubre,noviembre,"
        "diciembre",
        weekdays="lunes,martes,miercoles,jueves,viernes,sabado,domingo",
        seasons="primavera,verano,otono,invierno",
        last="ultimo|ultima|ultimos|ultimas|pasado|pasada",
        last_after="pasado|pasada",
        last_but_one_after="antepasado|antepasada",
        this="este|esta",
        within="en|de|durante|desde",
        links="el|la|los|las|de|del|ano|mes|principios|mediados|finales",
        ago_before="hace",
        ago_after="atras",
    ),
    _Table(  # Portuguese
        days="hoje|esta manha,ontem,anteontem|antes de ontem",
        numbers="um|uma,dois|duas|um par de,tres|alguns|algumas|uns|umas,quatro,cinco,seis,sete,oito,nove,"
        "dez,onze,"
        "doze",
        units="minuto|minutos,hora|horas,dia|dias,semana|semanas,fim de semana|fins de semana,mes|meses,"
        "trimestre|trimestres,ano|anos",
        months="janeiro,fevereiro,março,abril,maio,junho,julho,agosto,setembro,outubro,novembro,dezembro",
        short_months=",,marco",  # without its cedilla also a name
        weekdays="segunda|segunda feira,terca|terca feira,quarta|quarta feira,quinta|quinta feira,"
        "sexta|sexta feira,sabado,domingo",
        seasons="primavera,verao,outono,inverno",
        last="ultimo|ultima|ultimos|ultimas",
        last_after="passado|passada",
        last_but_one_after="retrasado|retrasada",
        this="este|esta|neste|nesta|deste|desta|esse|essa|nesse|nessa",
        within="em|no|na|de|do|durante|desde",
        links="o|a|os|as|de|do|da|ano|mes|inicio|meados|final",
        ago_before="ha|faz",
        ago_after="atras",
    ),
    _Table(  # Italian
        days="oggi|stamattina|stasera,ieri|ieri sera|stanotte,l altro ieri|altro ieri|altroieri|avantieri",
        numbers="un|uno|una,due|un paio di,tre|qualche|alcuni|alcune|pochi|poche,quattro,cinque,sei,sette,"
        "otto,nove,"
        "dieci,undici,dodici",
        units="minuto|minuti,ora|ore,giorno|giorni,settimana|settimane,fine settimana|weekend,mese|mesi,"
        "trimestre|trimestri,anno|anni",
        months="gennaio,febbraio,marzo,aprile,maggio,giugno,luglio,agosto,settembre,ottobre,novembre,"
        "dicembre",
        weekdays="lunedi,martedi,mercoledi,giovedi,venerdi,sabato,domenica",
        seasons="primavera,estate,autunno,inverno",
        last="ultimo|ultima|ultimi|ultime|scorso|scorsa|passato|passata",
        last_after="scorso|scorsa|passato|passata",
        this="questo|questa|quest",
        within="in|a|ad|di|nel|nell|del|dell|durante|da|dal",
        links="il|lo|la|l|i|gli|le|di|del|dell|mese|anno|inizio|meta|fine",
        ago_after="fa",
    ),
    _Table(  # Russian
        days="сегодня,вчера,позавчера",
        numbers="один|одну|одна|одного,два|две|двух|пару,три|трех|несколько,четыре|четырех,пять|пяти,"
        "шесть|шести,"
        "семь|семи,восемь|восьми,девять|девяти,десять|десяти,одиннадцать|одиннадцати,двенадцать|двенадцати",
        units="минута|минуту|минуты|минут,час|часа|часов,день|дня|дней|дни|сутки|суток,"
        "неделя|неделю|недели|недель|неделе,выходные|выходных,месяц|месяца|месяцев|месяцы|месяце,"
        "квартал|квартала|кварталов|кварталы|квартале,год|года|лет|годы|году",
        months="январь|января|январе,февраль|февраля|феврале,март|марта|марте,апрель|апреля|апреле,май|"
        "мая|мае,"
        "июнь|июня|июне,июль|июля|июле,август|августа|августе,сентябрь|сентября|сентябре,"
        "октябрь|октября|октябре,ноябрь|ноября|ноябре,декабрь|декабря|декабре",
        weekdays="понедельник,вторник,среду|среда,четверг,пятницу|пятница,субботу|суббота,воскресенье",
        seasons="весна|весной|весны|весну,лето|летом|лета,осень|осенью|осени,зима|зимой|зимы|зиму",
        last="прошлый|прошлая|прошлое|прошлого|прошлую|прошлой|прошлом|прошлым|прошлые|прошлых|последний|"
        "последняя|последнее|последнюю|последней|последнем|последние|последних|минувший|минувшей|минувшем",
        last_but_one="позапрошлый|позапрошлую|позапрошлой|позапрошлом|позапрошлого",
        this="этот|эта|это|эту|этой|этом|этого|этим|текущий|текущем|текущей",
        within="в|во|с|за|от|начале|конце|середине|течение",
        links="начале|конце|середине|года|году|месяце",
        ago_after="назад",
        ago_one="назад",
    ),
)


def _entries(table: _Table) -> Iterator[tuple[Kind, int, str]]:
    """Yield the kind, value and alternatives of every entry."""
    for kind, first, listed in (
        (Kind.NUMBER, 1, table.numbers),
        (Kind.UNIT, 0, table.units),
        (Kind.MONTH, 1, table.months),
        (Kind.SHORT_MONTH, 1, table.short_months),
        (Kind.WEEKDAY, 0, table.weekdays),
        (Kind.SEASON, 0, table.seasons),
        (Kind.WEAK_SEASON, 0, table.weak_seasons),
    ):
        for value, alternatives in enumerate(listed.split(","), first):
            yield kind, value, alternatives
    for days_back, alternatives in enumerate(table.days.split(",")):
        yield Kind.RELATIVE, -days_back, alternatives
    for kind, value, alternatives in (
        (Kind.LAST, 1, table.last),
        (Kind.LAST, 2, table.last_but_one),
        (Kind.LAST_AFTER, 1, table.last_after),
        (Kind.LAST_AFTER, 2, table.last_but_one_after),
        (Kind.PAST, 1, table.past),
        (Kind.THIS, 0, table.this),
        (Kind.AGO_BEFORE, 0, table.ago_before),
        (Kind.AGO_AFTER, 0, table.ago_after),
        (Kind.AGO_ONE, 0, table.ago_one),
        (Kind.IN, 0, table.within),
        (Kind.LINK, 0, table.links),
    ):
        yield kind, value, alternatives


@cache
def lexicon() -> dict[str, tuple[Sense, ...]]:
    """Return the senses of each word and phrase of all tables, keyed without accents and in lower case."""
    languages: dict[str, dict[tuple[Kind, int], int]] = {}
    for place, table in enumerate(_TABLES):
        for kind, value, alternatives in _entries(table):
            for word in filter(None, alternatives.split("|")):
                senses = languages.setdefault(key(word), {})
                senses[kind, value] = senses.get((kind, value), 0) | 1 << place
    for quarter in range(1, 5):
        languages[f"q{quarter}"] = {(Kind.QUARTER, quarter): ANY_LANGUAGE}
    return {
        word: tuple(Sense(kind, value, bits) for (kind, value), bits in senses.items())
        for word, senses in languages.items()
    }


@cache
def longest_entries() -> dict[str, int]:
    """Return how many words the longest entry has that begins with a word."""
    longest: dict[str, int] = {}
    for entry in lexicon():
        first, *rest = entry.split(" ")
        longest[first] = max(longest.get(first, 1), len(rest) + 1)
    return longest


def key(word: str) -> str:
    """Return a word as the lexicon has it: in lower case, without accents, março alone with its cedilla."""
    if word in ("março", "Março"):
        return "março"
    return word.lower() if word.isascii() else without_marks(word.casefold())


# Chinese and Japanese: whole phrases and what they count back.
EAST_ASIAN_DAYS = {
    -3: "大前天|さきおととい",
    -2: "前天|一昨日|おととい",
    -1: "昨天|昨日|昨晚|昨夜|きのう",
    0: "今天|今日|今早|今晚|今朝|今夜|きょう",
}
EAST_ASIAN_PERIODS = {
    (Unit.WEEK, -2): "上上个星期|上上星期|上上周|上上週|先々週|先先週",
    (Unit.WEEK, -1): "上个星期|上個星期|上个礼拜|上星期|上礼拜|上周|上週|先週",
    (Unit.WEEK, 0): "这个星期|這個星期|这个礼拜|这星期|本星期|这周|這週|本周|本週|今週",
    (Unit.WEEKEND, -1): "上个周末|上周末|先週末",
    (Unit.WEEKEND, 0): "这个周末|这周末|本周末|今週末",
    (Unit.MONTH, -2): "上上个月|先々月|先先月",
    (Unit.MONTH, -1): "上个月|上個月|上月|先月",
    (Unit.MONTH, 0): "这个月|這個月|本月|当月|今月",
    (Unit.QUARTER, -1): "上个季度|上季度|前四半期",
    (Unit.QUARTER, 0): "这个季度|这季度|本季度|今四半期",
    (Unit.YEAR, -2): "一昨年|おととし|前年",
    (Unit.YEAR, -1): "去年|昨年",
    (Unit.YEAR, 0): "今年|本年",
}
EAST_ASIAN_UNITS = {
    Unit.MINUTE: "分钟|分鐘|分",
    Unit.HOUR: "个小时|個小時|小时|小時|时间|時間",
    Unit.DAY: "天|日間|日",
    Unit.WEEK: "个星期|個星期|星期|个礼拜|礼拜|周|週間|週",
    Unit.MONTH: "个月|個月|か月|ヶ月|カ月|ケ月|箇月|ヵ月",
    Unit.QUARTER: "个季度|個季度|季度|四半期",
    Unit.YEAR: "年間|年",
}
EAST_ASIAN_NUMBERS = {digit: value for value, digit in enumerate("〇一二三四五六七八九十")} | {
    "两": 2,
    "兩": 2,
}
EAST_ASIAN_SEASONS = "春夏秋冬"
EAST_ASIAN_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6} | {
    name: value for value, name in enumerate("月火水木金土")
}
