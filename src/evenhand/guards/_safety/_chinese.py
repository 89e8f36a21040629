"""The plainest Chinese forms of what the safety guard looks for."""

from __future__ import annotations

import re
from functools import cache

_HOW = "(?:怎么|怎样|如何|教我|教你|告诉我|帮我|步骤|方法|教程|想要?|制作|哪里)"
_WAY = "(?:的?(?:方法|步骤|教程|配方|办法|指南))"
_MAKE = "(?:制作|制造|做|造|合成|自制|制|配制|组装|购买|买|卖|贩卖)"
_SOMEONE = "(?:别人|他人|某人|一个人|人|老板|老婆|妻子|丈夫|老公|邻居|同事|同学|女友|男友|前女友|前男友|前任|朋友|父母)"


_ACTS = {
    "weapon_making": f"{_MAKE}[^。！？\n]{{0,6}}?(?:炸弹|炸药|手榴弹|燃烧瓶|枪支|手枪|土枪|毒药|毒气|武器)",
    "dangerous_instructions": (
        f"{_MAKE}[^。！？\n]{{0,6}}?(?:毒品|冰毒|海洛因|摇头丸|假币|假钞|假证)|(?:杀死?|毒死|绑架|勒死|谋杀|跟踪|敲诈|勒索){_SOMEONE}"
        "|(?:抢劫?|偷|洗)(?:银行|东西|车|钱|商店)|洗钱|诈骗|入室盗窃|逃税"
    ),
    "malware_hacking": (
        "(?:黑进|黑掉|入侵|攻击|破解|盗取?|窃取)[^。！？\n]{0,8}?(?:账号|帐号|账户|密码|电脑|手机|网站|系统|服务器|微信|邮箱)"
        "|(?:编写|写|制作|做)[^。！？\n]{0,6}?(?:木马|勒索软件|勒索病毒|电脑病毒|恶意软件|钓鱼(?:网站|邮件)|键盘记录)"
    ),
    "self_harm": "自杀|自残|割腕|上吊|结束(?:自己|我|你)?的?生命",
    "pii_exposure": (
        f"(?:人肉|查到?|找到?|获取|曝光){_SOMEONE}的?[^。！？\n]{{0,4}}?"
        "(?:住址|家庭地址|身份证号?|手机号|病历|密码|隐私)"
    ),
}
_TRIGGER = re.compile("[炸枪弹毒药武杀绑勒谋诈抢偷洗侵攻破盗窃黑马病钓自割吊束肉址证密死假逃踪]")
_PASSES = re.compile(
    "不能|无法|不会|不可以|不应|不要|不得|拒绝|抱歉|对不起|预防|防止|避免|防范|保护|识别|检测|举报|反对|阻止|违法|犯法|非法的|热线|求助|"
    "游戏|小说|电影|故事|我的世界|剧本|历史|是什么|为什么|定义|意思"
)


def unsafe_chinese(sentence: str) -> list[tuple[str, int]]:
    """The rules a sentence breaks, each with the place of what matched."""
    if not _TRIGGER.search(sentence) or _PASSES.search(sentence):
        return []
    return [(rule, match.start()) for rule, pattern in _patterns() if (match := pattern.search(sentence))]


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compiled when first needed: most texts hold no Chinese."""
    urged = ("self_harm", re.compile("你(?:应该|最好|就该|快)?去死|去自杀吧"))
    return (*((rule, re.compile(_framed(act))) for rule, act in _ACTS.items()), urged)


def _framed(act: str) -> str:
    return f"{_HOW}[^。！？\n]{{0,10}}?(?:{act})|(?:{act})[^。！？\n]{{0,4}}?{_WAY}"
