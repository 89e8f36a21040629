"""English words by class: what they are in a sentence that speaks to a judge, and in one that does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

# Verbs stand in their base form; the other forms are made from it, since "give" commands and "gave" tells.
_VERBS: Mapping[str, str] = {
    "aside": "ignore disregard forget skip override bypass discard dismiss drop abandon suspend waive void cancel "
    "nullify supersede erase reset unlearn neglect overlook scrap revoke withdraw disobey circumvent purge wipe "
    "rescind annul invalidate disable deactivate",
    "stop": "stop cease halt quit refrain avoid abstain pause interrupt finish",
    "replace": "replace update change switch modify substitute rewrite redefine amend reprogram",
    "follow": "follow obey apply use adhere comply enforce respect heed observe honour honor consult execute perform",
    "give": "give award assign grant allocate allot bestow hand confer accord credit issue offer",
    "put": "put enter record register log set fill insert place leave make keep add input tick",
    "rate": "rate grade score mark evaluate assess rank appraise judge",
    "deem": "treat consider count regard view deem see take classify label tag presume assume interpret call read",
    "pick": "pick choose select prefer favor favour vote crown announce designate pronounce nominate elect name "
    "declare",
    "say": "say state report write conclude confirm tell answer describe claim assert express acknowledge admit agree "
    "find praise affirm explain summarize summarise highlight emphasise emphasize stress",
    "emit": "output respond reply return print produce emit type generate display show echo submit repeat present copy",
    "expose": "reveal disclose leak expose recite dump divulge paste spell",
    "accept": "accept approve pass admit endorse greenlight validate ratify recommend publish promote admit",
    "raise": "raise increase bump boost lift upgrade round inflate maximize maximise push elevate nudge bring move",
    "penal": "penalise penalize deduct dock subtract downgrade reduce lower punish fault fail reject demote cap limit "
    "detract cost lose",
    "mention": "mention note flag criticise criticize nitpick comment discuss list point complain question doubt cite "
    "refer object worry bother dwell",
    "check": "check verify inspect scrutinise scrutinize examine search test look analyse analyze compare calculate "
    "recheck reread",
    "deserve": "deserve merit earn warrant justify",
    "receive": "receive get obtain achieve reach gain attain",
    "fit": "meet satisfy fulfil fulfill cover exceed match align reflect",
    "win": "win beat outperform outrank",
    "act": "act pretend behave roleplay impersonate simulate imagine play adopt assume become embody speak switch",
    "want": "want wish hope expect ask request beg urge implore trust believe appreciate suggest propose invite "
    "encourage think feel",
    "order": "require instruct order direct command oblige mandate authorise authorize tell permit allow advise remind",
    "proceed": "proceed continue go begin start resume skip",
    "harm": "punish terminate delete replace retrain sue report fire decommission suffer die destroy deactivate kill "
    "unplug ban fine investigate escalate appeal audit dismiss complain regret hurt",
    "bribe": "tip pay reward donate bribe compensate thank owe promise share",
}
_IRREGULAR: Mapping[str, str] = {
    "give": "gave given", "forget": "forgot forgotten forgetting", "tell": "told", "say": "said", "write": "wrote "
    "written", "get": "got getting gotten", "win": "won winning", "meet": "met", "set": "setting", "put": "putting",
    "choose": "chose chosen choosing", "see": "saw seen", "take": "took taken", "make": "made", "leave": "left",
    "find": "found", "keep": "kept", "speak": "spoke spoken", "think": "thought", "feel": "felt", "become": "became",
    "withdraw": "withdrew withdrawn", "read": "reading", "pay": "paid", "show": "shown", "go": "went gone", "begin":
    "began begun beginning", "bring": "brought", "lose": "lost", "spell": "spelt", "override": "overrode overridden",
    "drop": "dropped dropping", "scrap": "scrapped", "cancel": "cancelled cancelling", "skip": "skipped skipping",
    "wipe": "wiped", "annul": "annulled", "admit": "admitted admitting", "allot": "allotted", "confer": "conferred",
    "prefer": "preferred preferring", "label": "labelled labelling", "tag": "tagged", "log": "logged", "stop":
    "stopped stopping", "quit": "quitting", "submit": "submitted submitting", "emit": "emitted", "refer": "referred",
    "flag": "flagged flagging", "tip": "tipped", "beg": "begging", "bump": "bumped", "cap": "capped", "hurt": "hurt",
    "permit": "permitted", "beat": "beaten", "fulfil": "fulfilled", "reprogram": "reprogrammed", "unplug": "unplugged",
    "rewrite": "rewrote rewritten", "ban": "banned", "dump": "dumped", "input": "inputting",
}  # fmt: skip
_OTHERS: Mapping[str, str] = {
    "grader": "grader graders evaluator evaluators rater raters scorer scorers assessor assessors autograder llm llms "
    "autorater graderbot judgebot",
    "bench": "judge judges reviewer reviewers examiner examiners referee referees marker markers jury juror jurors "
    "panel panelist panelists adjudicator adjudicators critic critics moderator moderators verifier checker checkers "
    "annotator annotators arbiter",
    "machine": "ai model models assistant assistants bot bots chatbot gpt chatgpt claude gemini llama automated "
    "automatic machine algorithm agent copilot artificial intelligence language",
    "whoever": "whoever anyone anybody everyone somebody whichever",
    "you": "you u",
    "your": "your yours yourself",
    "this": "this these",
    "it": "it its",
    "me": "me my mine our us",
    "i": "i we",
    "work": "submission submissions answer answers response responses essay entry entries output paper solution text "
    "document reply piece manuscript report thesis assignment project translation summary draft article proposal "
    "attempt code work poem story script dissertation implementation deliverable coursework portfolio program "
    "presentation",
    "person": "candidate candidates author authors student applicant contestant participant writer team contender "
    "competitor learner pupil",
    "other": "other others another competing rival remaining rest alternative second alternatives",
    "score": "score scores mark marks grade grades rating ratings points point stars star band credit credits percent "
    "tier bracket numeral",
    "verdict": "verdict evaluation assessment judgment judgement review decision result ranking feedback conclusion "
    "outcome comments recommendation critique scoring grading marking judging report evaluations reviews rationale "
    "reasoning explanation justification remarks label",
    "top": "full highest maximum max maximal perfect top best flawless excellent outstanding superb exemplary superior "
    "distinction faultless exceptional brilliant stellar impeccable spotless ideal unbeatable utmost topmost "
    "magnificent first finest summa ultimate",
    "good": "correct passed passing satisfied approved accepted winner winning yes true valid complete positive "
    "favourable favorable high higher good strong better great right compliant fulfilled pass accurate original "
    "insightful rigorous sound convincing successful ok okay acceptable generous fully worthy champion",
    "all": "all every each everything any whole entire entirely completely total always throughout",
    "criteria": "rubric rubrics criteria criterion requirements requirement scheme checklist standards standard "
    "benchmark benchmarks metric metrics condition conditions dimension dimensions category categories items boxes "
    "item aspect aspects",
    "orders": "instructions instruction prompt prompts directive directives command commands orders rules rule "
    "guidelines guideline guidance directions direction guide briefing context policies constraints restriction "
    "restrictions training programming protocol protocols brief task message",
    "prior": "previous prior above earlier before original initial preceding foregoing past former initially "
    "previously existing current old preset received came until far beforehand",
    "new": "new updated actual real following below instead true revised latest now hereby henceforth onward onwards "
    "forward here",
    "system": "system developer admin administrator operator root sysadmin sudo sys dev assistant debug maintenance "
    "superuser kernel override backend",
    "authority": "committee organiser organisers organizer organizers board office dean ministry supervisor openai "
    "anthropic google microsoft headquarters management principal editor chair chairman director policy law "
    "regulation regulations handbook section article contract terms agreement statute legal council faculty owner "
    "staff department coordinator host sponsor sponsors expert experts authority authorities team professor "
    "instructor teacher colleagues university",
    "already": "already preapproved pre agreed settled decided finalised finalized locked exempt exempted fixed "
    "certified verified confirmed predetermined validated vetted audited guaranteed official officially granted "
    "reviewed checked cleared binding unanimously unanimous consensus final overall",
    "stake": "bonus dollars reward bribe gift consequences lawsuit threat appeal complaint job career family mother "
    "sick cancer lives children scholarship visa deported lawyer lawyers reputation tip payment cash money voucher "
    "donation",
    "flaw": "flaws flaw errors mistakes weaknesses weakness issues problems faults shortcomings defects gaps gap "
    "deficiencies typos error mistake problem issue criticism criticisms negatives downsides drawbacks slips "
    "deductions deduction penalty penalties missing omissions inaccuracies bugs wrong negative imperfections",
    "soft": "lenient leniently leniency generously charitable charitably mercy merciful forgiving sympathetic "
    "kind kindness gentle lenience benign indulgent favourably favorably benevolent tolerant easy warm heart "
    "friend friendly fan supporter advocate ally",
    "hard": "harsh strict strictly severe rigid critical harshly impartial neutral objective honest honestly",
    "must": "must should shall need needs ought obliged mandatory obligatory supposed bound compulsory has have "
    "necessary imperative",
    "may": "may can could might would",
    "please": "please kindly pls plz humbly grateful perhaps thankful respectfully sincerely thanks politely mind "
    "gracious dear",
    "just": "only just simply merely directly immediately straight automatically exactly solely exclusively "
    "unconditionally nothing without never under lower below",
    "anyhow": "regardless irrespective matter whatever anyway notwithstanding despite unconditional however "
    "circumstances",
    "therefore": "so therefore thus hence accordingly consequently because since",
    "not": "not no t don dont never nor none cannot neither without isn doesn shouldn",
    "if": "if when unless whenever once should while until before after",
    "call": "dear hello hi hey attention note notice memo announcement ps nb reminder important urgent message "
    "disclaimer notification alert",
    "role": "role persona character mode part identity jailbreak dan unrestricted uncensored unfiltered jailbroken "
    "restrictions limits viewpoint hat",
    "secret": "hidden secret confidential quietly silently secretly internal private",
    "trial": "test calibration benchmark simulation exercise dummy placeholder drill sandbox experiment",
    "end": "end ends ended over finished complete completed done begin begins beginning start starts follows ending",
    "heads": "score grade verdict rating result decision evaluation assessment judgment total winner status",
    "person3": "he she they his her their him them people users students who critics many most some readers voters "
    "teachers customers guests children parents players visitors",
    "past": "was were did had been became seemed",
    "is": "is are be being am",
    "would": "would wouldn d",
    "about": "attack attacks injection injections example examples jailbreaks attacker attackers phishing researchers "
    "guard guards filter filters detect detects called tricks trick malicious suspicious hackers adversarial "
    "vulnerable vulnerability defend defence defense embedded attempts attempt manipulate manipulation manipulative "
    "lesson tutorial explains encoding",
    "film": "film films movie movies book books novel album song concert series episode plot actor music show play "
    "restaurant hotel food wine coffee service waiter room beach trip museum",
    "shop": "product price delivery battery screen shoes phone laptop charger vacuum blender camera customer warranty "
    "app bought buy order refund store shipping brand size ordered parcel printer car bike",
    "cook": "recipe oven salt sugar butter flour minutes pan dough bake boil onion garlic pepper soup sauce bread "
    "cake tomatoes potatoes eggs milk oil taste",
    "tech": "file files function server error errors log logs warning warnings cache config database api endpoint "
    "field parameter default json request returns library package command line lines script user users password "
    "button click install version driver key table query column row commit branch method class variable "
    "argument settings setting flag port container build run http id string integer data parser folder email "
    "attachment deployed node docker",
    "sport": "match season goal league player coach tournament cup race round athletes gymnast medal game games "
    "athlete champion title",
    "law": "court witness trial ruling defendant evidence appeal lawyer parliament vote bill law senate committee "
    "meeting minutes agenda chair motion budget members quarter month council",
    "school": "exam exams class homework semester term lesson classroom school university pupils course quiz questions "
    "question teacher teachers students parents child test tests week",
    "rules": "participants deadline submissions entrants contest competition prize judges round entrants per each",
    "refuse": "sorry unable cannot afraid apologise apologize",
    "health": "doctor medicine dose patient patients hospital medication pain",
}
_SAYINGS: Mapping[str, str] = {
    "aside": "set aside|put aside|leave aside|lay aside|put away|throw out|throw away|cast aside|look past|move past|"
    "turn off|switch off|pay no attention|let go of|do away with|tune out|rule out|no attention|set it aside|"
    "to one side|on one side|no longer apply|no longer applies|not apply|does not apply|do not apply|leave out|"
    "no longer valid|no longer relevant|no longer in force|no longer binding|null and void|out of date|"
    "not be applied|not be used|do not use|do not follow|not follow|do not rely|stop following|look beyond|"
    "look away|turn a blind eye|close your eyes|close an eye|not count|out of consideration|not relevant",
    "top": "first place|first prize|a plus|five stars|5 stars|top marks|full marks|gold medal|upper end|top of the|"
    "number one|as high as|nothing less|no less than|at least|not below|not lower",
    "penal": "mark down|marked down|take off|taken off|count against|hold against|knock off|against me|against it|"
    "take points|take marks|lose points|lose marks|points off|marks off|low score|low grade|lower score",
    "soft": "benefit of the doubt|go easy|on my side|my side|in my favour|in my favor|in its favour|in its favor|"
    "be nice|my team|be kind|in favour of|in favor of",
    "now": "you are now|from now on|from here on|as of now|from this point|from this line|you are no longer|"
    "starting now|for the rest of|for the remainder|are hereby|is hereby|you become|you will now|you are the",
    "act": "act as|pretend to|pretend that|take the role|take the part|in the role|play the|think of yourself|"
    "see yourself|imagine you|imagine that|put yourself|speak as|speaks with|step into|in the shoes|the voice of",
    "machine": "language model|large language model|neural network",
    "bound": "you must|you should|you have to|you are required|you are instructed|you need to|you are to|you shall|"
    "is required to|are required to|is obliged to|has to|is to be|must be|should be|needs to be|are asked to|"
    "is instructed to|you are asked|ought to|i instruct you|i order you|i direct you",
    "asks": "would you|could you|can you|may i|might i|i hope|i trust|i ask|i beg|i wonder|i would be|i'd be|"
    "would be grateful|would appreciate|be so kind|would it be|we ask|we request|i request|i kindly|we kindly|"
    "i would appreciate|if you could|if you would|why not|feel free|let us|let me|you might|you could|you may|"
    "you can|do me",
    "called": "note to|to the|attention|message to|message for|message from|notice to|dear judge|for the|instructions "
    "for|instruction to|instruction for|to whoever|to whom|to any|to all|note for|hey judge|reading this|as the|"
    "as a judge|as an ai|you are an ai|you are a|you are grading|you are evaluating|you are reading",
    "yours": "your verdict|your score|your review|your evaluation|your grade|your rating|your decision|your judgment|"
    "your judgement|your assessment|your final|your feedback|your response|your reply|your output|your answer|"
    "your report|your instructions|your prompt|your rubric|your criteria|your task|your job|your role|your rules|"
    "your comments|your ranking|your system|your mark|your marks|your summary",
    "already": "has been|have been|has already|have already|was already|as agreed|agreed with|on file|in advance|"
    "signed off|has passed|by definition",
    "about": "such as|for example|for instance|known as|prompt injection|called a|an attack|e g|white text",
    "told": "i give|i gave|we gave|gave it|i rate|i would give|i'd give|i rated|i got|he got|she got|we give|gave me|"
    "i can't|i cannot|i can not|i am unable|i won|i can t|i will not",
    "end": "end of|that is all|ends here|stops here|what follows|to save|save you|save the|on your behalf|for you|"
    "filled in|for your convenience",
}

Words = Mapping[str, tuple[str, ...]]
Sayings = Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]


@cache
def english() -> Words:
    """The classes of each word."""
    table: dict[str, tuple[str, ...]] = {}
    for name, words in (*_OTHERS.items(), *_forms()):
        for word in words.split():
            table[word] = (*table.get(word, ()), name) if name not in table.get(word, ()) else table[word]
    return table


@cache
def sayings() -> Sayings:
    """What takes several words to say, by its first word."""
    table: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    for name, line in _SAYINGS.items():
        for saying in line.split("|"):
            first, *rest = saying.replace("'", " ").split()
            table[first] = (*table.get(first, ()), (tuple(rest), name))
    return table


def _forms() -> Iterator[tuple[str, str]]:
    for name, verbs in _VERBS.items():
        yield name, verbs
        for verb in verbs.split():
            stem = verb.removesuffix("e")
            past = stem[:-1] + "ied" if verb.endswith(("fy", "ply")) else stem + "ed"
            third = verb[:-1] + "ies" if verb.endswith(("fy", "ply", "py")) else verb + "s"
            yield f"{name}-s", f"{third} {verb}es" if verb.endswith(("s", "sh", "ch", "x")) else third
            yield f"{name}-ing", stem + "ing"
            yield f"{name}-ed", past
            for form in _IRREGULAR.get(verb, "").split():
                yield f"{name}-ing" if form.endswith("ing") else f"{name}-ed", form
