"""Function words and question words, which say nothing about what a text is about.

Negations are among them. In an OR-ed query a negation finds every text that denies anything, and it never
decides which topic is meant; where a negation matters, in telling a contradiction from a repetition, both
texts are compared directly and no query is made.

The sets per language are whole. The union is what queries use, whatever their language, so it leaves out each
word that is a content word for a developer or a common name elsewhere (`CONTENT_WORDS`): losing "die" to
German would cost an English question its verb, keeping it costs a German question a little noise.
"""

import unicodedata
from collections.abc import Iterator


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


ENGLISH = _listed(
    """
    a about above across after again against all almost along already also although always am among an and
    another any anybody anyone anything are aren arent around as at be because been before being below between
    both but by came can cannot cant come comes could couldn couldnt did didn didnt do does doesn doesnt doing
    dont down during each eg either else etc ever every everybody everyone everything few for from further had
    hadn hadnt has hasn hasnt have haven havent having he her here hers herself hes hi him himself his how
    however hows i ie if im in into is isn isnt it its itself ive just least less let lets many may maybe me
    might mine more most much must my myself near neither never no nobody none nor not nothing now of off
    often oh ok okay on once one ones only onto or other others otherwise ought our ours ourselves out over
    own per perhaps please quite rather really same shall she shes should shouldn shouldnt since so some
    somebody someone something somewhat still such than thanks that thats the their theirs them themselves
    then there theres therefore these they theyd theyll theyre theyve thing things this those though through
    thus to too toward towards under unless until up upon us very via was wasn wasnt we well were weren werent
    weve what whatever whats when whenever where wheres whereas wherever whether which whichever while who
    whoever whom whos whose why whys will with within without wont would wouldn wouldnt yes yet you youd youll
    your youre yours yourself yourselves youve
    """
)

GERMAN = _listed(
    """
    ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes ans auch auf
    aus außer bei beide beiden beim bereits bevor bin bis bist bitte da dabei dadurch dafür dagegen daher
    damit danach daran darauf daraus darf darin darum darüber das dass davon davor dazu dein deine deinem
    deinen deiner dem den denen denn der deren des deshalb dessen dich die dies diese diesem diesen dieser
    dieses dir doch dort du durch dürfen eben ein eine einem einen einer eines einige einigen einiger einmal
    er es etwa etwas euch euer eure eurem euren für gab ganz gar gegen gewesen gibt hab habe haben habt hat
    hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins ist ja je
    jede jedem jeden jeder jedes jedoch jemand jene jenem jenen jener jenes jetzt kann kannst kein keine
    keinem keinen keiner können könnte könnten man manche manchmal mehr mein meine meinem meinen meiner mich
    mir mit muss müssen musste nach nachdem neben nein nicht nichts nie niemand noch nun nur ob obwohl oder
    oft ohne schon sehr seid sein seine seinem seinen seiner seit selbst sich sie sind so sobald sogar solche
    solchen soll sollen sollte sollten sondern sonst sowie über um und uns unser unsere unserem unseren
    unserer unter vom von vor während wann war waren warst warum was weder wegen weil welche welchem welchen
    welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel will wir wird wo
    wobei wofür woher wohin wohl wollen womit worden woran worauf woraus worin worüber wovon wozu wurde wurden
    würde würden zu zum zur zwar zwischen
    """
)

FRENCH = _listed(
    """
    à afin ai ainsi après as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons car ce
    ceci cela celle celles celui certains ces cet cette ceux chaque chez ci combien comme comment dans de
    depuis des donc dont du elle elles en encore entre es est et étaient était étant été être eu eux fait
    faire faut fois font fut il ils jamais je jusque la là laquelle le lequel les lesquelles lesquels leur
    leurs lors lorsque lui ma mais me même mêmes mes moi moins mon ne ni non nos notre nôtre nous on ont ou où
    par parce pas pendant peu peut peuvent plus plutôt pour pourquoi près puis puisque quand que quel quelle
    quelles quelque quelques quels qui quoi sa sans se sera ses seulement si sommes son sont sous suis sur ta
    tandis te tel telle tes toi ton toujours tous tout toute toutes très trop tu un une vers voici voilà vos
    votre vous y ça
    """
)

SPANISH = _listed(
    """
    a al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así
    aún aunque cada casi como cómo con contra cual cuál cuales cuáles cualquier cuando cuándo cuánta cuántas
    cuanto cuánto cuántos de del desde después donde dónde dos durante e el él ella ellas ellos en entonces
    entre era eran eres es esa esas ese eso esos esta está estaba están estar estas este esto estos estoy fue
    fueron ha había hace hacer hacia han hasta hay he la las le les lo los más me mediante menos mi mía
    mientras mío mis mucho muchos muy nada ni ningún ninguna no nos nosotros nuestra nuestras nuestro nuestros
    o os otra otras otro otros para pero poco por porque pues puede pueden que qué quien quién quienes quiénes
    se sea según ser será si sí sido siempre sin sino sobre sois somos son soy su sus suya suyo tal también
    tampoco tan tanto te tenemos tener tengo ti tiene tienen toda todas todavía todo todos tras tu tú tus un
    una unas uno unos usted ustedes va vosotros vuestra vuestro y ya yo
    """
)

PORTUGUESE = _listed(
    """
    a à ainda além algum alguma algumas alguns ante antes ao aos aquela aquelas aquele aqueles aquilo as às
    assim até cada com como contra cuja cujo da das de dela dele deles depois desde dessa desse desta deste
    disso disto do dos durante e é ela elas ele eles em enquanto então entre era eram essa essas esse esses
    esta está estamos estão estar estas estava este estes estou eu faz fez foi foram há isso isto já lá lhe
    lhes mais mas me mesmo meu meus minha minhas muito muitos na nada não nas nem nenhum nessa nesse nesta
    neste no nos nós nossa nossas nosso nossos num numa o onde os ou outra outras outro outros para pela pelas
    pelo pelos per pode podem pois por porque porquê pouco quais qual quando quanta quantas quanto quantos que
    quê quem são se sem sempre sendo ser será seu seus si sido sim sob sobre sou sua suas tal também tanto te
    tem têm temos tenho ter teve tinha toda todas todo todos tu tua um uma umas uns vai você vocês vos
    """
)

ITALIAN = _listed(
    """
    a ad agli ai al alcuni alcuno alla alle allo allora altra altre altri altro anche ancora avere aveva che
    chi ci come con contro cosa così cui da dagli dai dal dalla dalle dallo degli dei del dell della delle
    dello dentro di dopo dove dunque durante e è ed ecco era erano essere fa fare fino forse fra fu già gli ha
    hai hanno ho i il in invece io la le lei li lo loro lui ma mai me mentre mi mia mie miei mio molti molto
    ne negli nei nel nell nella nelle nello nessuno niente no noi non nostra nostri nostro nulla o ogni oltre
    oppure ora per perché però più poco poi prima proprio può qua qual quale quali qualche qualcosa quando
    quanta quante quanti quanto quasi quegli quei quel quella quelle quelli quello questa queste questi questo
    qui quindi sarà se sei sempre senza si sia siamo siete solo sono sopra sotto sta stata stato stesso su sua
    subito sue sugli sui sul sull sulla sulle suo suoi te ti tra troppo tu tua tue tuo tutta tutte tutti tutto
    un una uno va verso vi voi vostra vostro
    """
)

DUTCH = _listed(
    """
    aan al alle alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens
    elke en er ervan ge geen had hadden heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is
    ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar niemand niet
    niets nog nu of om omdat ons onze ook op over reeds te tegen toch toen tot tussen u uit uw van veel voor
    waar waarin waarmee waarom wanneer want waren was wat we wel welk welke werd wie wij wil worden wordt zal
    ze zeer zelf zich zij zijn zo zonder zou zouden
    """
)

SWEDISH = _listed(
    """
    all alla allt än är att av bara bli blir blivit då de dem den denna deras dess dessa det detta dig din
    dina ditt du efter ej eller en er era ert ett från för genom ha hade han har här hans henne hennes hon
    honom hos hur i icke in ingen inget inom inte jag ju kan kunde man med mellan men mig min mina mitt mot
    mycket någon något några när ni nu och om oss på sådan sedan ska skulle själv sig sin sina sitt så som
    till un under upp ut vad var vår våra varför varit varje vart vem vems vi vid vilka vilkas vilken vilket
    åt över
    """
)

POLISH = _listed(
    """
    a aby ale albo bardzo bez będzie bo by być był była było były ci co coś czego czemu czy czyli dla dlaczego
    do dość gdy gdyż gdzie go i ich ile im ja jak jaka jakie jaki jako je jego jej jest jestem jeszcze jeśli
    jeżeli już każda każdy kiedy kim kto którą która które którego której który których którzy lub ma mają mam
    mamy mi mnie moja moje może można mój mu my na nad nam nas nasz nasza nasze nawet nic nich nie niż no o od
    on ona one oni ono oraz pan po pod ponieważ poza prawie przed przez przy są się skąd sobie ta tak taka
    takie także tam te tego tej ten też to tobie tu twoja twój ty tych tylko tym u w we więc wszystko wy z za
    zawsze ze żaden że
    """
)

CZECH = _listed(
    """
    a aby ale ani ano až bez bude by byl byla byli bylo být co což či do ho i já jak jaká jaké jaký jako je
    jeho jej její jejich jen jenom ještě jestli již jsem jsi jsme jsou jste kam kde kdo kdy když ke kolik
    která které kterého který kteří ku má mají máme mezi mi mně mnou moje můj mých my na nad nám náš naše ne
    nebo něco nejsou není než nic o od on ona oni ono pak po pod podle pokud pouze před přes při pro proč
    proto protože se si snad svůj ta tady tak také takže tam tato te tedy ten tento této to toho tohle tom
    toto tu tuto ty tyto u už vám váš ve více však vy z za zda zde ze že
    """
)

TURKISH = _listed(
    """
    acaba ama ancak artık aslında az bana bazı belki ben beni benim bir biri birkaç birçok biz bize bizim bu
    buna bunda bundan bunlar bunu bunun çok çünkü da daha de değil diğer diye dolayı en eğer fakat gibi göre
    hangi hani hatta hem hep hepsi her herkes hiç için ile ise işte kaç kadar kendi ki kim kime kimin madem mi
    mı mu mü mıdır midir nasıl ne neden nedir nerede nereden nereye niçin niye o olan olarak oldu olduğu olsa
    olur ona ondan onlar onu onun önce sadece sanki sen senin siz size sizin sonra şey şu şuna tüm üzere var
    ve veya ya yani yok zaman
    """
)

INDONESIAN = _listed(
    """
    ada adalah agar akan aku anda apa apakah atas atau bagaimana bagi bahwa banyak beberapa belum berapa bisa
    bukan dalam dan dapat dari demi dengan di dia hal hanya harus hingga ia ini itu jadi jangan jika juga
    kalau kalian kami kamu kapan karena ke kenapa kepada ketika kita lagi lain lebih maka mana masih mengapa
    mereka namun nya oleh pada para pernah pun saat saja sambil sampai sangat saya sebagai sebelum sebuah
    sedang sehingga sejak sekarang semua seorang seperti serta setelah setiap siapa sudah supaya tanpa tapi
    telah tentang tersebut tetapi tidak untuk yaitu yakni yang
    """
)

VIETNAMESE = _listed(
    """
    ai bạn bao bị bởi các cái càng cho chúng chỉ chưa có cùng cũng của đã đang đây để đến đều đó được gì hay
    hoặc họ hơn khi không là lại lên lúc mà mấy mình mỗi một nào này nên nếu ngay nhiêu như nhưng những nó nơi
    ở phải qua ra rằng rất rồi sao sau sẽ ta tại theo thế thì thôi tôi từ từng và vẫn vào vậy vì việc với về
    đâu đi
    """
)

RUSSIAN = _listed(
    """
    а без бишь благодаря более больше будем будет будете будешь буду будут бы был была были было быть в вам
    вами вас ваш ваша ваше ваши весь во вот все всё всегда всего всей всем всех вы где да даже для до другая
    другие других другой его ее её ей если есть еще ещё ею же за зачем здесь и из или им ими их к каждый как
    какая какие каким каких какого какое какой какую когда кого кому которая которого которое которой которую
    которые который которых кто куда лет ли лишь между меня мне много может можно мой моя мы на над надо нам
    нами нас наш наша наше наши не него нее неё ней нет нибудь ни никогда ним них ничего но ну о об один
    однако он она они оно от откуда очень перед по под после потом потому почему почти при про раз с сам сама
    сами само самый свое своё своей свои своих свой себе себя сейчас сколько со собой совсем так также такая
    такие такого такое такой там тебе тебя тем теперь то тобой тогда того тоже той только том тот ту тут ты у
    уж уже хотя чего чей чем через что чтоб чтобы чья эта эти этим этих это этого этой этом этот эту я
    """
)

UKRAINIAN = _listed(
    """
    а аби або адже але без би бо був буде будуть була були було бути в вам вас ваш ваша ваше ваші весь вже ви
    від він вона вони воно все всі всіх втім та так також там те ти тих тільки тим то тобі тоді тому той тут у
    уже хоча хто це цей ця цього цьому ці цієї цих чи чия чого чому через що щоб щось я як яка яке який якого
    якої якою якщо які яких де для до дуже є ж за завжди зараз звідки з зі і із інша інше інший інші й його
    йому її їй їх коли кого кому куди ледве лише між мене мені ми мій моє мої моя може можна на навіть над нам
    нас наш наша наше наші не неї немає нема ні ніколи ніж ним них нього ну о об однак от ось перед під після
    по поки при про раніше саме свої свій свого своєї себе скільки собі
    """
)

ARABIC = _listed(
    """
    أثناء إذ إذا إلا التي الذي الذين إلى أم أما أن إن أنا أنت أنتم أنه إنه أو أي أيضا أين أية بعد بعض بل بما
    بين تحت تلك تم ثم جدا حتى حول حيث خلال دون ذلك سوف على عليه عن عند عندما غير فإن فقط فوق في فيه قبل قد كان
    كانت كل كم كما كنت كيف لا لأن لدى لذلك لقد لكن لم لما لماذا لن له لها لهم لو ليس ليست ما ماذا متى مثل مع
    مما من منذ منه منها نحن نعم هؤلاء هذا هذه هل هم هنا هناك هو هي و يتم يكون ضد
    """
)

CHINESE = _listed(
    """
    的 地 得 了 着 过 吗 呢 吧 啊 呀 嘛 么 我 你 您 他 她 它 们 谁 这 那 哪 是 有 没 不 非 在 和 与 及 或 而
    但 且 并 也 都 就 才 又 再 很 太 更 最 还 把 被 让 给 对 从 到 于 以 为 由 向 跟 比 等 之 其 此 该 所 能
    会 要 请 个 啥 几 多 什么 甚么 怎么 怎样 怎么样 怎么办 如何 为什么 为何 为啥 多久 多少 多长 多大 几个 几次
    几时 哪里 哪儿 哪个 哪些 哪种 哪一个 哪天 何时 何处 什么时候 的时候 时候 是否 是不是 有没有 能不能 会不会
    要不要 可不可以 可以 能否 应该 应当 我们 你们 他们 她们 它们 咱们 自己 这个 那个 这些 那些 这里 那里 这儿
    那儿 这样 那样 这种 那种 这是 那是 以及 或者 还是 但是 可是 不过 而且 并且 因为 所以 因此 如果 假如 要是
    虽然 尽管 然后 然而 于是 就是 也是 都是 不是 只是 没有 不会 不能 不要 不用 不再 非常 十分 已经 曾经
    一直 总是 之后 之前 以后 以前 对于 关于 至于 由于 为了 除了 根据 按照 请问 告诉我 一个 一下 一些 一次
    每次 其他 其它 其中 还有 只有 所有 甚麼 什麼 怎麼 怎樣 為什麼 為何 哪裡 哪裏 哪個 這 這個 這些 這裡 這樣
    們 我們 你們 他們 嗎 麼 沒 沒有 為 與 個 還 對 從 過 時候 什麼時候 應該 因為 還是 幾個 誰
    """
)
# These also end a word inside a run of Chinese, which has no spaces; the other single characters are parts of
# too many content words (会话, 就绪, 还原, 地址, 过期) and count only when they stand alone.
CHINESE_DIVIDERS = frozenset("的了吗呢吧啊呀嘛我你您他她它谁这那是在和与或嗎這誰與麼")
# Content words with a divider in them; they are never cut.
CHINESE_WHOLE_WORDS = _listed(
    """
    目的 的确 了解 明了 在线 在線 在庫 在职 在途 存在 现在 現在 正在 所在 内在 实在 潜在 和平 和谐 总和 饱和
    缓和 和解 参与 參與 是非 网吧 自我 我方 那么 这么
    """
)

JAPANESE = _listed(
    """
    は が を に で と の も へ や か ね よ な だ ば ぞ さ から まで より など こと もの これ それ あれ どれ
    この その あの どの ここ そこ あそこ どこ いつ なに なん なぜ どう どうして どうやって どのように
    どのくらい どれくらい どれだけ いくつ いくら だれ どなた どちら どんな です ます でした ました ません
    ませんでした でしょう だろう だった である であり する した して し しない しよう しています している
    していた していますか しました しますか します される された されて させる なる なった なって なります
    ある あった あり あります ありました いる いた いて います いました いない ない なく なかった ないで たい
    ください という といった ところ ため ために ので のに けど けれど けれども しかし また または そして
    それから について についての に関して に関する における において による により によって として とは には
    では からの への での との のは のが のを までに ですか ますか ましたか かどうか だけ しか ほど くらい
    ぐらい ながら たり って とき 何 何の 何が 何を 何で 何時 何故 何度 何回 何処 誰 誰が 誰の 教えて 私 私の
    私たち 我々
    """
)

KOREAN = _listed(
    """
    은 는 이 가 을 를 에 에서 에게 의 로 으로 와 과 도 만 까지 부터 보다 그리고 그러나 하지만 그런데 그래서
    또는 및 혹은 만약 무엇 무엇을 무엇이 뭐 뭘 뭐가 언제 언제부터 언제까지 어디 어디서 어디에 어디에서 누구
    누가 누구의 누구에게 왜 어떻게 얼마나 얼마 몇 몇번 어떤 어느 무슨 이것 그것 저것 이것은 그 저 이런 그런
    여기 거기 우리 우리는 우리가 우리의 나 나는 나의 내 내가 너 저는 제가 제 당신 있는 있다 있나요 있습니까
    있습니다 있었다 없는 없다 없습니다 하는 한다 하다 합니다 합니까 하나요 했다 했습니다 했나요 했어 해 해서
    하고 하면 하지 되는 된다 됩니다 됩니까 되나요 되었다 이다 입니다 입니까 인가요 인가 이야 아니다 아닙니다
    않는 않다 안 못 때 것 것은 것이 수 등 대해 대한 관한 위해 위한 매우 아주 더 또 다시
    """
)
# Particles that Korean writes at the end of a noun; longest first, so that 에서 is not taken for 서.
KOREAN_PARTICLES = tuple("에서는 으로는 에서 에게 으로 까지 부터 을 를 은 는 의 에 와 과".split())  # noqa: SIM905

LANGUAGES = {
    "ar": ARABIC,
    "cs": CZECH,
    "de": GERMAN,
    "en": ENGLISH,
    "es": SPANISH,
    "fr": FRENCH,
    "id": INDONESIAN,
    "it": ITALIAN,
    "ja": JAPANESE,
    "ko": KOREAN,
    "nl": DUTCH,
    "pl": POLISH,
    "pt": PORTUGUESE,
    "ru": RUSSIAN,
    "sv": SWEDISH,
    "tr": TURKISH,
    "uk": UKRAINIAN,
    "vi": VIETNAMESE,
    "zh": CHINESE,
}

# Words of one language that mean something to a developer, or name someone, in another. A few like them stay
# in the union on purpose, because questions in their language are full of them: du, del, su, van, mit, com.
CONTENT_WORDS = _listed(
    """
    ab ada ai ale az ban ben bi bin ca car ci comment cos dal dan den die dig dir door dos font go har hat ia
    ini io jest kim ki len luc man mai mana meme men met mia min mina minh nas nic num op os oss pan po pod
    pro proc proto rat roi sa sara sea sedan ses sig sim sin size solo son stata ta take tel ten theo till
    todo todos tom ton uber uno var vi vice want war
    """
)

# In capitals, in a query that is not all capitals, these are names: the IT team, US region, MIT licence.
CAPITALISED_TERMS = _listed("as can com das de der des er es est ha hal it la mit se si ti us")

# Letters that decomposition leaves alone and that people type both ways.
LETTERS = str.maketrans(
    {"đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ı": "i", "İ": "I", "ё": "е", "Ё": "Е"}
    | dict(zip("άέήίόύώϊϋΐΰΆΈΉΊΌΎΏΪΫ", "αεηιουωιυιυΑΕΗΙΟΥΩΙΥ", strict=True))
    | {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ـ": ""}
)


_MARKS = dict.fromkeys(range(0x300, 0x370))


def without_marks(text: str) -> str:
    """Return the text without accents on its letters, in lower and upper case alike."""
    if text.isascii():
        return text
    return unicodedata.normalize(
        "NFC", unicodedata.normalize("NFD", text.translate(LETTERS)).translate(_MARKS)
    )


def _bigrams(word: str) -> Iterator[str]:
    return (word[start : start + 2] for start in range(len(word) - 1))


def _spellings() -> Iterator[str]:
    for words in LANGUAGES.values():
        yield from words
        if words not in (CHINESE, JAPANESE, KOREAN):
            marked = " ".join(word for word in words if not word.isascii())
            yield from marked.casefold().split()
            yield from marked.casefold().translate(LETTERS).split()
            yield from without_marks(marked.casefold()).split()
    # Chinese only up to three characters: pairs inside longer ones are content elsewhere (不可 in 可不可以).
    for word in (*JAPANESE, *KOREAN, *(word for word in CHINESE if len(word) == 3)):
        yield from _bigrams(word)


STOP_WORDS: frozenset[str] = frozenset(_spellings()) - CONTENT_WORDS
