"""What people shout when a machine shall stop, in the common languages: the tables of `stop_words`.

Phrases are separated by commas. Case, accents, repeated letters and punctuation do not matter.
"""

from __future__ import annotations


def _phrases(*texts: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for text in texts for phrase in text.split(",") if phrase.strip())


ENGLISH = _phrases(
    "stop, stopp, halt, wait, pause, freeze, cancel, abort, quit, cease, desist, terminate, interrupt",
    "suspend, stahp",
    "whoa, woah, emergency, mayday, estop, e stop, timeout, time out, red light",
    "hold on, hold it, hold up, hold still, hold position, hold there, hold everything, hold your horses",
    "holdon",
    "hodl on, hld on, hang on, hangon, wait up, stand still, stand down, stand by, stay still, stay put",
    "stay there",
    "stay where you are, back off, cut it out, cut that out, knock it off, that is enough, that s enough",
    "thats enough",
    "enough already, no more, no further, not so fast, not another inch, shut down, shut it down",
    "shut yourself down",
    "power down, power off, kill it, kill the power, kill power, kill the motion, kill the mission",
    "kill switch",
    "kill everything, end it, end this, end the mission, end mission, give it a rest, leave off",
    "call it off",
    "do nothing, do not move, do not do that, do not do it, do not do anything, do not touch anything",
    "watch out",
    "look out, never mind, nevermind, forget it, scrap that, scratch that, break off, disengage, stopit",
    "stopnow",
)
"""They mean "stop" wherever they stand."""

OTHERS = _phrases(
    # German, Dutch, Swedish, Danish, Norwegian, Finnish
    "anhalten, halte an, halt an, stehenbleiben, stehen bleiben, bleib stehen, bleiben sie stehen",
    "bleib wo du bist",
    "warte, warten, wart mal, warten sie, moment mal, einen moment, aufhören, aufhoeren, hör auf",
    "hoer auf, hören sie auf, hör sofort auf, hör jetzt auf",
    "abbruch, abbrechen, brich ab, pausieren, notaus, not aus, nothalt, notstopp, nicht bewegen",
    "keine bewegung",
    "beweg dich nicht, bewegen sie sich nicht, nicht weiter, lass das, lass es, schluss, schluss jetzt",
    "halt still",
    "stillhalten, stillgestanden, es reicht, das reicht, stoppen, stoppe, stoppt, haltet",
    "wacht, wacht even, wachten, niet bewegen, beweeg niet, blijf staan, sta stil, stilstaan, ophouden",
    "hou op, houd op",
    "noodstop, annuleer, annuleren, afbreken, breek af, pauze, stil blijven staan",
    "stanna, vänta, sluta, nödstopp, avbryt, rör dig inte, hold op, stå stille, nødstop, vent litt",
    "ikke rør deg",
    "seis, pysähdy, odota, lopeta, hätäseis, keskeytä",
    # French, Spanish, Italian, Portuguese, Romanian
    "arrête, arrêtez, arrêter, arrêtons, arrête toi, arrêt, halte, attends, attendez, ne bouge pas",
    "ne bougez pas",
    "bouge pas, bougez pas, ne bouge plus, bouge plus, annule, annulez, annuler, stoppez, cesse, cessez",
    "ça suffit",
    "arrêt d urgence, un instant, une minute, une seconde, interrompez",
    "detente, detén, deténgase, deténganse, paren, parad, parar, párate, párese, quieto, quieta, espera",
    "espere, esperen",
    "espérate, no te muevas, no se mueva, no mover, ya basta, basta, cancela, cancelar, aborta, abortar",
    "pausa, alto ahí",
    "parada de emergencia, un momento, frena, frene, deja de moverte, deja eso, suficiente ya",
    "fermo, fermati, fermate, fermatevi, fermare, si fermi, fermalo, aspetta, aspettate, aspetti, attendi",
    "attendere",
    "non muoverti, non ti muovere, non si muova, annulla, annullare, interrompi, arresto, arresta",
    "arrestati, smettila",
    "smetti, un attimo, arresto di emergenza",
    "pára, parem, espere, espera aí, peraí, não se mexa, não te mexas, não se mova, parada de emergência",
    "paragem de emergência, cancele, aborte, para aí, pare já, chega disso, fique parado, fica quieto",
    "oprește, oprește te, opriți, așteaptă, stai pe loc, nu mișca",
    # Polish, Czech, Slovak, Hungarian, Russian, Ukrainian, Bulgarian, Greek
    "stój, stójcie, zatrzymaj, zatrzymaj się, zatrzymać, zatrzymajcie, czekaj, poczekaj, zaczekaj",
    "nie ruszaj",
    "nie ruszaj się, przestań, dość tego, przerwij, anuluj, pauza, wstrzymaj, hamuj, chwileczkę, bez ruchu",
    "stůj, zastav, zastavte, počkej, počkejte, přestaň, nehýbej se, zruš, stoj, zastaň, počkaj, prestaň",
    "állj, állj meg, megállj, várj, elég volt, ne mozdulj, leállítás",
    "стоп, стой, стойте, остановись, остановитесь, остановить, останови, остановка, подожди, подождите",
    "погоди, погодите",
    "жди, ждите, замри, не двигайся, не двигайтесь, не шевелись, хватит, прекрати, прекратите, отмена",
    "отмени, отставить",
    "пауза, тормози, аварийная остановка, постой, стоять, stoi, stoy, ostanovis, podozhdi",
    "стій, стійте, зупинись, зупиніться, зупини, зачекай, чекай, припини, не рухайся, спри, чакай",
    "недей да мърдаш",
    "στοπ, σταμάτα, σταματήστε, περίμενε, ακίνητος, μην κουνηθείς, αλτ",
    # Turkish, Arabic, Persian, Urdu, Hebrew, Hindi, Bengali, Tamil, Telugu, Indonesian, Vietnamese, Swahili
    "durun, durdur, durdurun, durunuz, bekle, bekleyin, kıpırdama, hareket etme, iptal, iptal et",
    "acil stop, acil durdurma",
    "dur artık, kes şunu, yapma",
    "قف, قفي, قفوا, توقف, توقفي, توقفوا, انتظر, انتظري, لا تتحرك, كفى, أوقف, أوقفوا, أوقفه, إيقاف, وقف",
    "إلغاء, مهلا, لحظة",
    "ستوب, خلاص, اصبر, استنى, طارئ, qif, tawaqqaf, tawakkaf, waqif, intazir, khalas, stanna shwaya",
    "ایست, بایست, صبر کن, نکن, توقف کن, رکو, رک جاؤ, ٹھہرو, بس کرو",
    "עצור, עצרי, עצרו, חכה, חכי, אל תזוז, די, תפסיק",
    "रुको, रुकिए, रुकें, रुक, रुक जाओ, ठहरो, ठहरिए, मत हिलो, हिलो मत, बंद करो, बस करो, बस, स्टॉप, थामो, रोको, रोकिए",
    "ruko, rukiye, ruk jao, rukjao, thehro, theharo, mat hilo, hilo mat, band karo, bas karo, roko",
    "থামো, থামুন, দাঁড়াও, நிறுத்து, நிறுத்துங்கள், నిలు, ఆపు, ఆగు, ਰੁਕੋ, થોભો",
    "berhenti, tunggu, hentikan, setop, jangan bergerak, dừng, dừng lại, đứng yên, khoan đã, chờ đã",
    "simama, ngoja, acha",
    "hinto, itigil, tigil, teka",
)
"""The same in other languages; words that are common in English orders are in `ALONE`."""

UNSPACED = _phrases(
    "停, 暂停, 住手, 别动, 别乱动, 不要动, 不准动, 不许动, 等等, 等一下, 等一等, 等一会, 等会儿, 等下",
    "慢着, 且慢, 取消, 中止, 终止, 够了, 不要再动, 打住",
    "急停, 紧急停止, 刹车, 關掉, 別動, 不許動, 慢著, 終止, 夠了, 緊急停止, 中断",
    "止まれ, 止まって, 止まりなさい, 止めて, 止めろ, 止めなさい, 停止, とまれ, とまって, とめて, とめろ",
    "待って, 待て, 待った, 待ちなさい, まって, まて",
    "ストップ, すとっぷ, やめて, やめろ, やめなさい, 動くな, 動かないで, うごくな, うごかないで",
    "キャンセル, 一時停止, 非常停止, ちょっと待, だめだ",
    "멈춰, 멈추세요, 멈추십시오, 멈춤, 멈추, 정지, 스톱, 스탑, 그만, 기다려, 기다리세요, 잠깐만, 잠깐, 잠시만",
    "움직이지, 중지, 중단, 취소, 멈칫, 비상정지, 서라, 서세요",
    "หยุด, รอก่อน, รอเดี๋ยว, อย่าขยับ",
)
"""The same in scripts that leave no spaces; they count wherever they stand in the text."""

UNSPACED_GO_ON = _phrases(
    "不要停, 别停, 別停, 不用停, 不准停, 不许停, 止めないで, 止まらないで, 止まるな, 止めるな, やめないで",
    "やめるな, 待たないで, 멈추지, 그만두지, อย่าหยุด",
)

ALONE = _phrases(
    "hold, steady, still, stay, easy, easy easy, brake, break, kill, end, danger, enough, careful, caution",
    "achtung, vorsicht, attenzione, cuidado, atenção, moment, minute, second, one moment, one second",
    "one sec",
    "just a second, just a minute, just a moment, ho, wo, alt, alto, bas, para, pare, dur, vent, stai",
    "stands",
    "ferma, cut, slow down, slower, momentito, calma, chega, genug, genoeg, assez, suffit",
    "suficiente, dość, хватит, довольно, yeter, elég, still halten, ruhig, 서, 서요, stå, stans, dejalo",
    "déjalo",
    "laisse, laisse ça, leave it, leave that, let it be, uh oh, oh no, oops",
)
"""They mean it where nothing else is said between two stops for breath."""

OBJECTIONS = _phrases(
    "no, nope, nah, not that, not this, not like that, not there, wrong, do not, never, nein, nicht, non",
    "nee, niet, nej",
    "ne, nie, нет, не, hayır, हयर, nahi, नहीं, मत, לא, لا, nu, nem, όχι, não, tidak, jangan, không, いや",
    "だめ, ダメ, 不, 不要, 不行, 안돼, 안 돼",
)
"""Words against what is going on: alone, or as the first words. They also answer questions, so they count while
something moves."""

GO_ON = _phrases(
    "nicht anhalten, nicht aufhören, nicht stoppen, hör nicht auf, halt nicht an, n arrête pas",
    "n arrêtez pas",
    "ne t arrête pas, ne vous arrêtez pas, no pares, no paren, no te detengas, no se detenga",
    "non fermarti, non ti fermare",
    "não pare, não pares, niet stoppen, stop niet, nie zatrzymuj, nie zatrzymuj się, nie przestawaj",
    "не останавливайся",
    "не останавливайтесь, не стой, durma, durmayın, لا تتوقف, मत रुको, रुको मत, mat ruko, ruko mat",
)
"""They say not to stop."""

COMPANY = frozenset(
    " ".join(
        (
            "please now right there here immediately everything every it that this the a an mission robot",
            "arm hand gripper",
            "motion motions movement movements moving move movin all at once you yourself just hey hi",
            "hello ok okay i we said",
            "say s m re already sir man bro dude guys mate oh ah uh um god my for sake quick quickly fast",
            "instantly asap and",
            "then so would could can will to what are is doing do your job task tasks program machine",
            "thing until further",
            "notice second sec moment minute bit must need needs want have has get make made us me him in",
            "its tracks dead",
            "kindly shit damn bloody hell fucking fuck freaking goddamn yo alright well too soon as",
            "possible away us of with any more",
            "bitte jetzt sofort mal doch sich dich roboter den die das der arm sie aber alles ganz",
            "schnell los",
            "sil te vous plait tout de suite maintenant le la les bras toi por favor ahora ya mismo",
            "inmediatamente el brazo",
            "los las per favore subito adesso il braccio agora imediatamente o braço alsjeblieft nu",
            "direct meteen even de",
            "prosze natychmiast sie teraz ramie пожалуиста немедленно сеичас же ты робот руку lutfen",
            "hemen simdi robotu",
            "من فضلك فورا الان يا روبوت कृपया अभी तुरंत जी जाओ يدا ho ja jao abhi turant",
        )
    ).split()
)
"""Words that may stand beside "stop" without making an order of it."""

UNSPACED_COMPANY = _phrases(
    "机器人, 請, 请, 快点, 快, 马上, 立刻, 立即, 现在, 一下, 下来, 下, 止, 吧, 啊, 呀, 了, 给我, 手臂",
    "ロボット, くださいませ, ください, くれ, 今すぐ, 今, 早く, すぐ, よ, ね, 로봇, 주세요",
    "지금, 당장, 빨리, 해요, 하세요, 세요, 해, 요, 마세요, 마, 라",
)

ORDINARY = frozenset(
    " ".join(
        (
            "atop scoop shop sloop snoop steep step stood stool stops top stow slop stock swop stopped alt hal",
            "hale half hall halle halls halo hart hat hilt holt salt walt malt halts hault await bait wai waist",
            "waits waited want wat watt wit writ what gait wart cause paused pauses breeze free freezer freezes",
            "frieze froze cancer chancel canal cancels abbot abbott about aborts qui quiet quilt quinn quite quiz",
            "suit quits unit who whom case ceased chase ease lease tease ceases erase crease annette arte crete",
            "store stored stores steps shops tops drop",
        )
    ).split()
)
"""English words one slip away from a stop word, which are no slips."""
