"""Reasons, lists of nearest changes and importance as cards of a notebook."""

from __future__ import annotations

from tmverify.display import html
from tmverify.display.drawing import marked
from tmverify.display.html import Html, Tone
from tmverify.display.inputs import Bits, change_size, drawn_shape, size_of
from tmverify.display.reasons import shown_reason
from tmverify.display.words import seconds_text
from tmverify.properties.card import TONES, drawn, every_input, foot, label, seen, stopped, target_of
from tmverify.properties.setting import Setting
from tmverify.properties.verdict import Status
from tmverify.verify.changes import ChangeSet, NearestChanges
from tmverify.verify.explaining import Importance
from tmverify.verify.explanation import Explanation

_MOST_SETS = 8
_MOST_SHARES = 12
_LONGEST_CHANGE = 300
_CHEAPEST = (
    "Cheapest first. Proved: no cheaper set of columns is left out, unless it contains one of these or lies "
    "within one"
)


def explanation_card(why: Explanation) -> str:
    """An Explanation as HTML."""
    setting = why.setting
    tone: Tone = TONES[Status.UNKNOWN]
    badge, decision = "unknown", html.name(label(setting, why.decision))
    if why.sufficient is Status.UNKNOWN:
        body = [html.note(f"Nothing is known. {stopped(why.stop_reason, why.detail)}"), seen(setting)]
    elif why.sufficient is Status.VIOLATED:
        badge, tone = "no contrast", "plain"
        way = "decided alike" if why.target is None else f"not decided {label(setting, why.target)}"
        body = [html.sentence(f"Proved: {every_input(setting)} is {way}."), seen(setting)]
    else:
        badge, tone = "reason" if why.kind == "sufficient" else why.kind, "plain"
        if why.outcome is not None:
            decision = html.turn([label(setting, each) for each in (why.decision, why.outcome)], "→")
        body = _sufficient(why) if why.kind == "sufficient" else _contrastive(why)
        if why.minimal == "open":
            n, more = len(why.undecided), ", or have further values" if why.widened else ""
            left = f"{n} of them might be left out{more}" if n else "Some might be left out"
            body.insert(1, html.note(f"Open: {left}. {stopped(why.stop_reason, why.detail)}"))
    within = "" if why.within is None or setting is None else f"within {setting.counted(why.within)}"
    return html.card(
        tone,
        badge,
        html.joined([target_of(setting), decision]),
        kicker=within,
        body=body,
        foot=foot(why.seconds, why.engine, why),
        rests_on=why.trusts,
    )


def _sufficient(why: Explanation) -> list[Html]:
    """What is proved of a sufficient reason, its rule, and the input with its facts."""
    setting, n = why.setting, len(why)
    wider = ", and no value added" if why.widened else ""
    minimal = {
        "smallest": " No reason has fewer.",
        "subset": f" None of them can be left out{wider}.",
        "open": "",
    }
    so = "decided so" if why.target is None else f"not decided {label(setting, why.target)}"
    what = "" if setting is None else f" of the {setting.n_columns:,} {setting.noun}s"
    these = "" if not n else f" with {'this' if n == 1 else 'these'} {n}{what}"
    said = f"Proved: {every_input(setting)}{these} is {so}.{minimal[why.minimal] if n else ''}"
    if setting is None or setting.x is None:
        return [html.sentence(said), html.sentence(why.rule)]
    shape = drawn_shape(setting.space)
    by_bits = setting.rules.about_bits and not setting.space.only_flags
    facts = dict(zip(why.places, why.facts, strict=True))
    drawn = shown_reason(setting.space, setting.x, facts, by_bits=by_bits, shape=shape)
    rule = [html.sentence(why.rule)] if drawn.changed else []
    return [html.sentence(said), *rule, html.shown(drawn, ("must be on", "must be off"))]


def _contrastive(why: Explanation) -> list[Html]:
    """What is known of a contrastive reason, and the change."""
    setting, z = why.setting, why.witness
    minimal = {
        "smallest": " No change of fewer does it.",
        "subset": " No change of only some of them does it.",
        "open": "",
    }
    if setting is None or setting.x is None or z is None:
        return [html.sentence(f"{why.rule}.{minimal[why.minimal]}")]
    said = f"{_size(setting, setting.x, z)}; the model was run on the result.{minimal[why.minimal]}"
    return [html.sentence(said), drawn(setting, setting.x, z)]


def _size(setting: Setting, x: Bits, z: Bits) -> str:
    is_picture = drawn_shape(setting.space) is not None
    return change_size(setting.space, (x != z).nonzero()[0], z, is_picture=is_picture)


def changes_card(found: NearestChanges) -> str:
    """NearestChanges as HTML."""
    setting = found.setting
    sets = found.found[:_MOST_SETS]
    left = html.left_out(len(found) - len(sets), "sets")
    body = [_listed(setting, sets), left]
    if any(each.optimal for each in found):
        but = "" if all(each.optimal for each in found) else ", but for what is marked open"
        body.insert(0, html.sentence(f"{_CHEAPEST}{but}."))
    if not found.complete:
        body.append(html.note(f"Open: there may be others. {stopped(found.stop_reason, found.detail)}"))
    elif found.exhausted:
        body.append(html.sentence("Proved: there are no others."))
    n = len(found)
    return html.card(
        "plain" if found.complete else "open",
        f"{n} nearest change{'s' * (n != 1)}",
        html.joined([target_of(setting), html.name(label(setting, found.before))]),
        body=body,
        foot=[seconds_text(found.seconds)],
    )


def _listed(setting: Setting | None, sets: tuple[ChangeSet, ...]) -> Html:
    """Sets of changes: drawn, or a line each."""
    shape = None if setting is None else drawn_shape(setting.space)
    if setting is not None and setting.x is not None and shape is not None:
        pictures = [
            html.picture(
                marked(setting.x, each.witness, shape),
                size_of(shape),
                html.joined([html.turn([label(setting, each.decision)], ""), html.text(f" · {_cost(each)}")]),
                str(each),
            )
            for each in sets
        ]
        return html.body(
            html.tag("div", html.spaced([*pictures, html.key_of(("set", "cleared"))]), style="pics")
        )
    labels = [html.turn([label(setting, each.decision)], "") for each in sets]
    return html.body(
        html.rows(
            (own, html.text(_cost(each)), html.text(each, _LONGEST_CHANGE))
            for own, each in zip(labels, sets, strict=True)
        )
    )


def _cost(each: ChangeSet) -> str:
    return f"cost {each.cost}{'' if each.optimal else ', open'}"


def importance_card(found: Importance) -> str:
    """Importance as HTML: a bar for each of the first columns."""
    shares = list(found.shares.items())
    lines = [
        (html.name(column, 60), html.text(f"{share:.0%}"), html.bar([(column, share, "plain")]))
        for column, share in shares[:_MOST_SHARES]
    ]
    n = found.n_reasons
    body = [html.body(html.rows(lines), html.left_out(len(shares) - len(lines), "columns"))]
    if found.complete:
        body.insert(0, html.sentence(f"The share of all {n:,} sufficient reasons that has the column."))
    else:
        said = f"The share of the {n:,} sufficient reasons found that has the column; there may be others"
        said = said if n else "No sufficient reason was found in time"
        body.insert(0, html.note(f"{said}. {stopped(found.stop_reason, found.detail)}"))
    tone: Tone = "plain" if found.complete else TONES[Status.UNKNOWN]
    return html.card(tone, "importance", html.NOTHING, body=body, foot=[seconds_text(found.seconds)])
