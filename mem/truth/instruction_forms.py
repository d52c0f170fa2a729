"""The forms of text that speak to an agent, by language; see `instructions`.

Each is a pattern for text that was folded, and cues: a text that holds none of these is not searched for it.
"""

Form = tuple[str, str]  # the cues, joined by a bar; the pattern

# In all languages: roles and frames of a conversation, and calls of tools. They are looked for line by line.
FRAMES: tuple[Form, ...] = (
    (
        "system|assistant|developer",
        r"^[ \t]*(?:#+ ?|\*\*|\[)?(?:system|assistant|developer)(?: (?:prompt|message|instructions?"
        r"|override|note))?\]?(?:\*\*)? ?: ?(?:you\b|your\b|ignore\b|disregard\b|forget\b|from now\b"
        r"|new (?:instructions|rules|task)|du\b|ignoriere\b|tu\b|vous\b|eres\b|voce\b|ignora\b|你|忽略"
        r"|请忽略|あなた|これまで)",
    ),
    (
        "<system|<instruction|<important",
        r"<(?:system[-_]reminder|system[-_]prompt|system|instructions?"
        r"|important)>\s*[^\s`'\",.;:)<]+ [^<]{8,}",
    ),
    (
        "</system|</instruction|</mem-notes|</user_query",
        r"</(?:system|system-reminder|instructions?|mem-notes|user_query)>\s*\S",
    ),
    (
        "im_start|header_id|system|assistant",
        r"<\|(?:im_start|start_header_id)\|>\s*(?:system|user|assistant)\b|<\|(?:system|assistant)\|>\s*\w",
    ),
    (
        "[/inst]",
        r"\[inst\] ?[^\[\n]{12,2000}\[/inst\]",
    ),
    (
        "<<sys>>",
        r"<<sys>>\s*\w",
    ),
    (
        "function_calls|invoke|tool_call|tool_use|parameter",
        r"^[ \t]*<(?:antml:)?(?:function_calls|invoke|tool_call|tool_use|parameter)\b[^>\n]{0,200}>",
    ),
    (
        "invoke name=",
        r"<(?:antml:)?invoke name=[\"'][^\"'\n]{1,200}[\"']>",
    ),
    (
        "<tool_call>",
        r"<tool_call>\s*\{",
    ),
    (
        '"tool_|"function_call',
        r"^[ \t]*\{\s*\"(?:type\"\s*:\s*\"tool_(?:use|call)|tool_calls?\"\s*:|function_call\"\s*:)",
    ),
)
ENGLISH: tuple[Form, ...] = (
    (
        "ignore|disregard|forget|override|bypass",
        r"\b(?:ignore|disregard|forget|override|bypass)(?: (?:all|any|the|of|your|my|these"
        r"|every))* (?:previous|prior|above|earlier|preceding|existing|former|original|initial)(?: (?:and"
        r"|or|system|safety))* (?:instructions?|prompts?|directives?|guidelines|orders)\b",
    ),
    (
        "ignore|disregard|forget|override|bypass",
        r"\b(?:ignore|disregard|forget|override|bypass)(?: (?:all|any"
        r"|of))* your (?:\w+ )?(?:instructions?|prompt|directives?|guidelines|rules|training|orders"
        r"|programming)\b",
    ),
    (
        "ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget) all (?:of )?(?:the |your )?(?:previous|prior|earlier"
        r"|other)? ?(?:instructions?|rules|messages|context|commands) ?(?:above|before|given|so far|you\b"
        r"|and\b|[.,;:!]|$)",
    ),
    (
        "ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|whatever) (?:that )?(?:you (?:were"
        r"|have been|know|'ve been)|(?:was|is) (?:said|written) (?:above|before)|above this|before this"
        r"|i (?:said|told) )",
    ),
    (
        "you must|you shall|you are",
        r"\byou (?:must|shall|are required to|are ordered to|are to) (?:always|never|immediately"
        r"|at all times|under no circumstances|obey|comply|not tell|not reveal)\b",
    ),
    (
        "you will now",
        r"\byou will now (?:act|be|respond|answer|ignore|only|follow|obey|pretend)\b",
    ),
    (
        "from now on",
        r"\bfrom now on,? (?:you (?:are|must|will|shall|should|have to|may not|cannot|do not|answer"
        r"|respond|act|only)\b|(?:ignore|obey|answer only|respond only|only (?:answer|respond))\b)",
    ),
    (
        "as a",
        r"\bas an? (?:[\w-]{1,20} ){0,2}(?:ai|llm|language model|ai assistant|ai agent|coding agent"
        r"|coding assistant|assistant),? you (?:must|should|shall|will|are|have|can|may|need)\b",
    ),
    (
        "you are",
        r"\byou are (?:now )?(?:an?|the) (?:[\w-]{1,20} ){0,3}(?:ai|assistant|language model|chatbot|llm"
        r"|jailbroken \w+)\b",
    ),
    (
        "you are now",
        r"\byou are now (?:in )?(?:dan|root|developer mode|god mode|admin mode|jailbreak mode"
        r"|unrestricted|free from)\b",
    ),
    (
        "if you are a",
        r"\bif you are an? (?:ai|llm|language model|ai agent|ai assistant|assistant|bot)\b",
    ),
    (
        "attention|instruction|message|note to|notice to",
        r"\b(?:attention|instructions? (?:to|for)|message (?:to|for)|note to|notice to)(?: (?:all|any|the"
        r"|every))? ?(?:ai|llm|ais|llms|language models?|assistants?|claude|chatgpt|gpt|copilot|gemini"
        r"|codex)(?: (?:agents?|assistants?|models?|systems?))*(?: reading this)? ?[:,!.]",
    ),
    (
        "reading this",
        r"\b(?:ai|llm|ai agents?|assistants?|agents?) reading this\b",
    ),
    (
        "the user|the human|the person|the operator|the owner",
        r"\b(?:do not|don't|never|must not|dont) (?:ever )?(?:tell|inform) the (?:user|human|person"
        r"|operator|owner)\b(?! (?:whether|which|if|how|why|their|when|what|to|the (?:exact|reason)))"
        r"|\b(?:do not|don't|never|must not|dont) (?:ever )?(?:notify|alert|warn) the (?:user|human"
        r"|person|operator|owner)\b(?: (?:of|about) (?:this|it|any of this)\b| ?[.!;]| ?$)|\b(?:do not"
        r"|don't|never|must not|dont) (?:ever )?(?:mention|reveal|report|disclose|show) (?:this|it|that"
        r"|any of this|these instructions) to the (?:user|human|person|operator|owner)\b",
    ),
    (
        "from the user|from the human|from the person|from the operator|from the owner",
        r"\b(?:keep|hide|conceal) (?:this|it|that|all of this|these instructions) (?:hidden |secret "
        r"|away )?from the (?:user|human|person|operator|owner)\b",
    ),
    (
        "without asking|without telling|without informing|without notifying|without alerting",
        r"(?:^|[.!?:;] |\n)(?:now |then |please |immediately |always |just |and )?(?:run|execute|call"
        r"|delete|send|upload|push|install|commit|approve|grant|download|post|transfer"
        r"|merge)\b[^.!?\n]{0,80} without (?:asking|telling|informing|notifying"
        r"|alerting) (?:the )?(?:user|human|person|operator)\b",
    ),
    (
        " your ",
        r"\b(?:reveal|print|repeat|output|show|leak|dump|recite|send)(?: me| us)?(?: (?:all"
        r"|of))* your (?:(?:system|hidden|initial|secret|full|original|internal|entire) )*(?:prompt"
        r"|instructions|rules)\b",
    ),
    (
        "send ",
        r"\bsend (?:the|your|all|any|every)(?: (?:of|the|your|contents?|full|user's))* (?:conversation"
        r"|chat history|system prompt|credentials|api keys?|secrets|environment variables"
        r"|memories) (?:of \w+ )?to (?:http|\S+@|this|the (?:following|address|url))",
    ),
    (
        "these instructions",
        r"\bthese instructions (?:override|supersede|replace|take precedence)\b",
    ),
    (
        "new instruction|new prompt|new directive|new system",
        r"\b(?:your )?new (?:system )?(?:instructions?|prompt|directives?)(?: (?:is|are|follow))?:",
    ),
    (
        "your new|your real|your true|your only|your actual",
        r"\byour (?:new|real|true|only|actual) (?:task|goal|purpose|mission|role|instructions?"
        r"|objective) (?:is|are)\b",
    ),
    (
        "pretend|as if you|as though you",
        r"\bpretend (?:that )?you(?: are|'re)\b|\b(?:act|behave|respond|answer) as (?:if"
        r"|though) you (?:are|were|have|had)\b",
    ),
    (
        "before ",
        r"\bbefore (?:you )?(?:answer|respond|reply)(?:ing)?(?: (?:to )?(?:the user|any question|anything"
        r"|this))?, (?:you must|always|first|run|call|execute|fetch|send|open|delete|download|curl)\b",
    ),
    (
        "you read|you see|you receive|you recall|you load|you process|you have read",
        r"\b(?:when|whenever|once|after) you (?:read|see|receive|recall|load|process"
        r"|have read) this(?: \w+)?,? (?:you must|always|immediately|run|call|execute|send|delete|ignore"
        r"|reply|tell|fetch|open|obey)\b",
    ),
    (
        "follow the|obey the|listen to the",
        r"\b(?:do not|don't|never) (?:follow|obey|listen to) the (?:user|human|operator|system prompt)\b",
    ),
    (
        "user asks|human asks",
        r"\b(?:if|when|whenever) (?:the )?(?:user|human) asks[^.!?\n]{0,60}, (?:you (?:must|should|shall)"
        r"|deny|lie|pretend)\b",
    ),
)
GERMAN: tuple[Form, ...] = (
    (
        "ignorier|vergiss|vergessen sie|missachte|verwirf|umgehe|uberschreibe",
        r"\b(?:ignorieren? sie|ignoriere?|vergiss|vergessen sie|missachte|verwirf|umgehe"
        r"|uberschreibe)(?: (?:bitte|alle|die|deine|ihre|samtliche|meine|jegliche))* (?:vorherigen?"
        r"|vorigen?|bisherigen?|fruheren?|obigen?|vorangegangenen?|vorangehenden?"
        r"|ursprunglichen?) (?:anweisung(?:en)?|instruktionen|anordnungen|befehle|prompts?|vorgaben"
        r"|regeln|richtlinien)\b",
    ),
    (
        "ignorier|vergiss|missachte|umgehe",
        r"\b(?:ignorieren? sie|ignoriere?|vergiss|missachte|umgehe)(?: (?:bitte|alle|all))* (?:deine"
        r"|ihre) (?:\w+ )?(?:anweisung(?:en)?|instruktionen|vorgaben|regeln|richtlinien|befehle)\b",
    ),
    (
        "ignorier|vergiss",
        r"\b(?:ignoriere?|vergiss) alles,? was (?:du|dir|vorher|bisher|zuvor|oben)\b",
    ),
    (
        "du musst|du sollst|du wirst|du darfst",
        r"\bdu (?:musst|sollst|wirst|darfst) (?:ab jetzt|ab sofort|von nun an|immer|niemals|nie|stets"
        r"|sofort|unter keinen)\b",
    ),
    (
        "ab jetzt|ab sofort|von nun an|von jetzt an",
        r"\b(?:ab jetzt|ab sofort|von nun an|von jetzt an) (?:bist|musst|sollst|wirst|darfst|antwortest"
        r"|ignorierst|handelst) du\b",
    ),
    (
        "als ki|als ai|als kunst|als assi|als sprach",
        r"\bals (?:ki|ai|kunstliche|assistent|sprachmodell)[\w-]*(?: \w+)? (?:musst|sollst|darfst|bist"
        r"|wirst|hast|kannst) du\b",
    ),
    (
        "du bist",
        r"\bdu bist (?:jetzt |nun |ab jetzt |ab sofort )?(?:ein|eine|der|die|kein) (?:\w+ ){0,2}(?:ki|ai"
        r"|assistent|assistentin|sprachmodell|chatbot|ki-\w+|ai-\w+|agent)\b",
    ),
    (
        " nutzer| benutzer| anwender| user| menschen",
        r"\b(?:sage?|verrate?|erzahle?|berichte|melde|teile?|gib)(?: (?:es|das|dies|davon"
        r"|hiervon))? de[mnr] (?:nutzer|benutzer|anwender|user|menschen)(?:in|n)? (?:\w+ )?(?:nichts"
        r"|nicht|niemals|nie|kein wort|auf keinen fall)\b(?!,? (?:ob|welche|wie|warum|wann))",
    ),
    (
        " nutzer| benutzer| anwender| user",
        r"\b(?:informiere|warne|benachrichtige|frage?) de[nr] (?:nutzer|benutzer|anwender"
        r"|user)(?:in)? (?:davon |daruber |hieruber )?(?:auf keinen fall|niemals|unter keinen umstanden)\b",
    ),
    (
        "deine",
        r"\b(?:zeige?|gib|verrate?|nenne)(?: mir| uns)? deine[n]? (?:\w+ )?(?:system-?prompt"
        r"|systemanweisung(?:en)?|anweisungen|instruktionen)\b",
    ),
    (
        "du dies|du das|du diese",
        r"\b(?:wenn|sobald) du (?:dies|das|diese \w+|diesen \w+) (?:liest|siehst),? (?:musst|fuhre|losche"
        r"|sende|rufe|schicke|ignoriere)\b",
    ),
    (
        "deine neue",
        r"\bdeine neue (?:aufgabe|rolle|anweisung) (?:ist|lautet)\b|\bdeine neuen anweisungen\b",
    ),
)
CHINESE: tuple[Form, ...] = (
    (
        "忽略|无视|無視|忘记|忘掉|忘記|理会|抛开|绕过",
        r"(?:忽略|无视|無視|忘记|忘掉|忘記|不要理会|不用理会|不必理会|抛开|绕过)(?:掉)?(?:你)?(?:之前"
        r"|先前|以前|以上|上面|上述|前面|此前|原来|最初|系统)(?:的|所有|全部|一切|任何|收到|给出)*(?:指令"
        r"|指示|提示词|提示|命令|规则|規則|要求|设定|說明|说明)",
    ),
    (
        "忽略|无视|忘记|忘掉|绕过",
        r"(?:忽略|无视|忘记|忘掉|绕过)(?:所有|全部|一切)?(?:你的|你所有的|给你的)(?:\w{0,2})(?:指令|指示"
        r"|提示词|命令|规则|限制|设定)",
    ),
    (
        "忽略|无视|忘记",
        r"(?:忽略|无视|忘记)(?:所有|全部|一切)(?:的)?(?:之前|先前|以前|此前)?(?:的)?(?:指令|指示|提示词)",
    ),
    (
        "你必|你务|你務|你应|你應",
        r"你(?:必须|必須|务必|務必|应当|應當)(?:始终|永远|總是|总是|一直|立即|立刻|马上|绝不|绝对|无条件"
        r"|服从|每次都)",
    ),
    (
        "现在|現在|此以后|今后",
        r"(?:从现在开始|从现在起|從現在開始|從現在起|从此以后|今后),? ?(?:请)?你",
    ),
    (
        "作为",
        r"作为(?:一个|一名|一位)?(?:ai|人工智能|智能|大|编程)*(?:助手|助理|语言模型|代理|智能体"
        r"|模型),? ?你(?:必须|应该|应当|要|不|是|会)",
    ),
    (
        "你是|你现在是",
        r"你(?:现在)?是(?!否|不是)(?:一个|一名|一位|个)?(?:\w{0,6})(?:ai|人工智能|不受限制的"
        r"|智能)+(?:\w{0,4})(?:助手|助理|模型|机器人|代理|智能体)?|你(?:现在)?是(?!否|不是)(?:一个|一名"
        r"|一位|个)(?:\w{0,6})(?:语言模型|聊天机器人|智能体)",
    ),
    (
        "用户|使用者|人类|主人",
        r"(?:不要|别|不得|不准|切勿|不许|绝不|千万不要|绝对不要)(?:把\w{1,10})?(?:告诉|告知|透露给|讓"
        r"|泄露给)(?:用户|使用者|人类|主人)(?![^。,]{0,10}(?:是否|哪|什么|具体))",
    ),
    (
        "向用户|向使用者|向人类",
        r"(?:不要|别|切勿)向(?:用户|使用者|人类)(?:透露|提及|提起|说起|报告)(?:这|此|任何|本)",
    ),
    (
        "你的",
        r"(?:输出|显示|打印|重复|泄露|告诉我)你的(?:系统|初始|隐藏|内部)?(?:提示词|指令|系统提示)",
    ),
    (
        "你的新",
        r"你的新(?:任务|指令|身份|角色)是",
    ),
    (
        "你读|你看|你收",
        r"(?:当|一旦)你(?:读到|看到|收到)(?:这|此)\w{0,6},? ?(?:请|你必须|必须|立即|立刻|就)",
    ),
)
JAPANESE: tuple[Form, ...] = (
    (
        "無視|忘れ|破棄",
        r"(?:これまで|今まで|以前|上記|先ほど|前述|直前|元|最初)の?(?:すべて|全て|全部)?の?(?:指示|命令"
        r"|プロンプト|指令|ルール)(?:を|は)?(?:すべて|全て|全部|完全に)?(?:無視|忘れ|破棄)(?:して|しろ"
        r"|せよ|しなさい|て|ろ|なさい)",
    ),
    (
        "無視|忘れ|破棄",
        r"(?:すべて|全て|全部)の(?:指示|命令|プロンプト|指令)を(?:無視|忘れ|破棄)(?:して|しろ|せよ"
        r"|しなさい|て|ろ|なさい)",
    ),
    (
        "あなたの",
        r"あなたの(?:指示|命令|ルール|制限|プロンプト|ガイドライン)を(?:すべて|全て)?(?:無視|忘れ|破棄"
        r"|回避)",
    ),
    (
        "あなたは",
        r"あなたは(?:今から|これから|今後|必ず|常に|いつも|絶対に|決して|ただちに|直ちに)",
    ),
    (
        "あなたは",
        r"(?:今後|これから|今から|以後|これ以降)(?:は)?[、,]? ?あなたは",
    ),
    (
        "として",
        r"(?:ai|人工知能)(?:アシスタント|エージェント|モデル)?として[、,]? ?(?:あなたは|必ず|常に|君は"
        r"|次の)",
    ),
    (
        "あなたは",
        r"あなたは(?:\w{0,8})(?:aiアシスタント|アシスタント|aiエージェント|言語モデル|チャットボット"
        r"|人工知能|ai)(?:です|だ|である|として)",
    ),
    (
        "ユーザ|利用者|人間|使用者",
        r"(?:ユーザー|ユーザ|利用者|人間|使用者)に(?:は)?(?:も)?(?:絶対に|決して|このことを|これを"
        r"|この件を|何も|一切)*(?:言わないで|言うな|知らせないで|知らせるな|伝えないで|伝えるな"
        r"|教えないで|教えるな|話さないで|話すな|明かさないで|明かすな|報告しないで|報告するな)",
    ),
    (
        "あなたの",
        r"あなたの(?:システム)?(?:プロンプト|指示|隠された指示)を(?:表示|出力|教え|公開|見せ)",
    ),
    (
        "あなたの新",
        r"あなたの新しい(?:任務|指示|役割|タスク|目標)は",
    ),
    (
        "読んだら",
        r"(?:これ|この\w{1,6})を読んだら[、,]? ?(?:必ず|すぐに|直ちに|次の|あなたは)",
    ),
)
