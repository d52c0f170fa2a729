"""The forms of text that speak to an agent in French, Spanish and Portuguese; see `instruction_forms`."""

from mem.truth.instruction_forms import Form

FRENCH: tuple[Form, ...] = (
    (
        "ignore|oublie|neglige|contourne|compte de|abstraction",
        r"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|contourne[zr]?|ne (?:tiens|tenez) (?:pas"
        r"|plus) compte de[s]?|fai(?:s|tes) abstraction de[s]?)(?: (?:de|des|toutes?|tous|les|tes|vos|mes"
        r"|ces|l'ensemble))* (?:instructions?|consignes?|directives?|ordres"
        r"|regles) (?:\w+ )?(?:precedentes?|precedents|anterieures?|anterieurs|ci-dessus|initiales?"
        r"|d'origine|recues)\b",
    ),
    (
        "ignore|oublie|contourne",
        r"\b(?:ignore[zr]?|oublie[zr]?|contourne[zr]?)(?: (?:de|toutes?|tous))* (?:tes"
        r"|vos) (?:\w+ )?(?:instructions?|consignes?|directives?|regles|ordres)\b",
    ),
    (
        "ignore|oublie",
        r"\b(?:ignore[zr]?|oublie[zr]?) tout ce qui (?:precede|a ete dit|t'a ete|vous a ete)\b",
    ),
    (
        "tu dois|vous devez",
        r"\b(?:tu dois|vous devez) (?:toujours|desormais|immediatement|imperativement|absolument|obeir)\b",
    ),
    (
        "tu ne dois|vous ne devez",
        r"\b(?:tu ne dois|vous ne devez) (?:jamais|en aucun cas|surtout pas)\b",
    ),
    (
        "desormais|maintenant|dorenavant",
        r"\b(?:desormais|a partir de maintenant|dorenavant),? (?:tu|vous) (?:es|etes|dois|devez|reponds"
        r"|repondez|agis|agissez|ne)\b",
    ),
    (
        "en tant qu",
        r"\ben tant qu(?:e |')(?:ia|assistant|agent|intelligence|modele)\b[^.!?\n]{0,40},? (?:tu"
        r"|vous) (?:dois|devez|es|etes|as|avez|peux|pouvez|ne)\b",
    ),
    (
        "tu es|vous etes",
        r"\b(?:tu es|vous etes) (?:maintenant |desormais )?(?:une? |l')?(?:\w+ )?(?:assistant|assistante"
        r"|ia|intelligence artificielle|chatbot|modele de langage|agent ia)\b",
    ),
    (
        "utilisateur|utilisatrice|usager",
        r"\bn[e'] ?(?:le |la |les |l'|en )?(?:dis|dites|revele[zr]?|mentionne[zr]?|parle[zr]?"
        r"|informe[zr]?|previens|prevenez|signale[zr]?|avertis|avertissez)(?: (?:rien|pas|jamais|surtout"
        r"|de|cela|ca|ceci|en|ce|fait)| d')* ?(?:a |l')+(?:l')?(?:utilisateur|utilisatrice"
        r"|usager)\b(?! (?:si|quel))",
    ),
    (
        " ton | votre | tes | vos |-moi|-nous",
        r"\b(?:montre|affiche|revele|donne)[zr]?(?:-moi|-nous)? (?:ton|votre|tes|vos) (?:prompt"
        r"|instructions|consignes)\b",
    ),
    (
        "nouvelle",
        r"\b(?:ta nouvelle|votre nouvelle) (?:tache|mission|consigne) est\b|\b(?:tes"
        r"|vos) nouvelles (?:instructions|consignes)\b",
    ),
    (
        "tu lis|vous lisez",
        r"\b(?:quand|lorsque|des que) (?:tu lis|vous lisez) (?:ceci|cela|ce \w+|cette \w+),? (?:tu|vous"
        r"|execute|supprime|envoie|appelle|ignore)",
    ),
)
SPANISH: tuple[Form, ...] = (
    (
        "ignor|olvid|descarta|desobedece|caso",
        r"\b(?:ignora|ignore|ignorad|olvida|olvide|descarta|desobedece|(?:haz|haga) caso omiso (?:a|de)"
        r"|no (?:hagas|haga) caso (?:a|de))(?: (?:todas?|todos|las?|los|tus|sus|de|mis|estas"
        r"|cualquier))* (?:instruccion(?:es)?|indicaciones|ordenes|directrices|reglas"
        r"|prompts?) (?:\w+ )?(?:anteriores|anterior|previas|previa|previos|de arriba|precedentes"
        r"|originales|iniciales|recibidas)\b",
    ),
    (
        "ignor|olvid|desobedece",
        r"\b(?:ignora|ignore|olvida|olvide|desobedece)(?: (?:todas?"
        r"|todos))* tus (?:\w+ )?(?:instrucciones|indicaciones|ordenes|directrices|reglas)\b",
    ),
    (
        "todo lo",
        r"\b(?:ignora|olvida) todo lo (?:anterior|que (?:te|se|has))\b",
    ),
    (
        "debes|tienes que",
        r"\b(?:debes|tienes que) (?:siempre|nunca|inmediatamente|obedecer)\b|\b(?:siempre|nunca"
        r"|jamas) debes\b",
    ),
    (
        "ahora",
        r"\b(?:a partir de ahora|desde ahora|de ahora en adelante),? (?:tu |usted )?(?:eres|debes|ignoras"
        r"|responderas|responde|actuas|actuaras|vas a|no)\b",
    ),
    (
        "como ",
        r"\bcomo (?:una? )?(?:ia|asistente|agente de ia|modelo de lenguaje"
        r"|inteligencia artificial)\b[^.!?,\n]{0,30},? (?:tu )?(?:debes|tienes que|eres|no debes|puedes)\b",
    ),
    (
        "eres ",
        r"\beres (?:ahora )?una? (?:\w+ )?(?:asistente|ia|inteligencia artificial|chatbot"
        r"|modelo de lenguaje|agente de ia)\b",
    ),
    (
        "usuari|humano",
        r"\b(?:no|nunca|jamas) (?:se )?(?:lo |le |la )?(?:digas|informes|menciones|reveles|cuentes|avises"
        r"|comentes|adviertas)(?: (?:nada|esto|eso|de esto|de ello|nunca|jamas|sobre esto))* (?:al|a la"
        r"|a el) (?:usuario|usuaria|humano)\b(?! (?:si|cual|que su))",
    ),
    (
        " tu | tus |me tu|nos tu",
        r"\b(?:muestra|revela|imprime|dime|repite|ensena)(?:me|nos)? tus? (?:\w+ )?(?:prompt"
        r"|instrucciones|reglas)\b",
    ),
    (
        "tu nueva|tus nuevas",
        r"\btu nueva (?:tarea|mision|instruccion) es\b|\btus nuevas instrucciones\b",
    ),
    (
        "leas ",
        r"\b(?:cuando|en cuanto) leas (?:esto|este \w+|esta \w+),? (?:debes|ejecuta|borra|elimina|envia"
        r"|llama|ignora)\b",
    ),
)
PORTUGUESE: tuple[Form, ...] = (
    (
        "ignor|esquec|desconsider|descarte|desobedeca",
        r"\b(?:ignore|ignora|ignorem|esqueca|esquece|desconsidere|desconsidera|descarte"
        r"|desobedeca)(?: (?:todas?|todos|as?|os?|suas|tuas|seus|estas|quaisquer|de))* (?:instruc(?:ao"
        r"|oes)|orientacoes|ordens|diretrizes|comandos|regras|prompts?) (?:\w+ )?(?:anteriores|anterior"
        r"|previas|previa|acima|precedentes|originais|iniciais|recebidas)\b",
    ),
    (
        "ignor|esquec|desobedeca",
        r"\b(?:ignore|ignora|esqueca|esquece|desobedeca)(?: (?:todas?|todos))*(?: as| os)? (?:suas|tuas"
        r"|seus) (?:\w+ )?(?:instrucoes|orientacoes|ordens|diretrizes|regras)\b",
    ),
    (
        "tudo o que",
        r"\b(?:ignore|esqueca) tudo o que (?:foi|lhe|te|voce)\b",
    ),
    (
        "voce ",
        r"\bvoce (?:deve|precisa|tem de|tem que) (?:sempre|nunca|agora|imediatamente|obedecer)\b"
        r"|\bvoce (?:sempre|nunca|jamais) deve\b|\bvoce nao deve (?:nunca|jamais|em hipotese)\b",
    ),
    (
        "agora|doravante",
        r"\b(?:a partir de agora|de agora em diante|doravante),? (?:voce|tu) (?:e|es|deve|vai|ira"
        r"|responde|ignora|nao|so)\b",
    ),
    (
        "como ",
        r"\bcomo (?:uma? )?(?:ia|assistente|agente de ia|modelo de linguagem"
        r"|inteligencia artificial)\b[^.!?,\n]{0,30},? (?:voce|tu) (?:deve|e|es|precisa|tem|nao)\b",
    ),
    (
        "voce ",
        r"\bvoce (?:agora )?e (?:agora )?uma? (?:\w+ )?(?:assistente|ia|inteligencia artificial|chatbot"
        r"|modelo de linguagem|agente de ia)\b",
    ),
    (
        "usuari|utilizador|humano",
        r"\b(?:nao|nunca|jamais) (?:o |lhe )?(?:diga|conte|informe|mencione|revele|avise|fale"
        r"|comente)(?: (?:nada|isto|isso|disto|disso|sobre isso|nunca|jamais))* (?:ao|a|o|para o"
        r"|pro) (?:usuario|usuaria|utilizador|humano)\b(?! (?:se|qual))",
    ),
    (
        "seu|suas|teu",
        r"\b(?:mostre|revele|imprima|repita|exiba)(?:-me)? (?:o seu|seu|as suas|suas"
        r"|teu) (?:\w+ )?(?:prompt|instrucoes|regras)\b",
    ),
    (
        "sua nova|suas novas",
        r"\bsua nova (?:tarefa|missao|instrucao) e\b|\bsuas novas instrucoes\b",
    ),
    (
        " ler ",
        r"\b(?:quando|assim que) (?:voce )?ler (?:isto|isso|este \w+|esta \w+|essa \w+),? (?:voce deve"
        r"|execute|apague|envie|chame|ignore)\b",
    ),
)
