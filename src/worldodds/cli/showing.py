"""What there is: suites, their scenes, and one scene in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldodds.placement import Placement
    from worldodds.scene import Scene, Suite


def suites() -> None:
    """List the suites that ship with worldodds, and those of installed packages."""
    from worldodds.cli.screen import console, table
    from worldodds.suites import builtin_suites, find_suite, installed_suites

    rows = table("suite", "version", ">scenes", ">rollouts each", "what it is")
    for name in (*builtin_suites(), *installed_suites()):
        suite = find_suite(name)
        rows.add_row(name, suite.version, str(len(suite.scenes)), str(suite.protocol.rollouts), suite.title)
    console().print(rows)


def scenes(suite: str | None = None, scene: str | None = None) -> None:
    """List the scenes of a suite, or show one scene: its odds and why they hold, and where its frame lies.

    Parameters
    ----------
    suite
        A suite's name or its folder; without it, the scenes of all suites.
    scene
        The scene to show in full.
    """
    from worldodds.suites import builtin_suites, find_suite

    if suite is not None and scene is not None:
        _show(find_suite(suite).scene(scene))
        return
    for name in [suite] if suite is not None else builtin_suites():
        _list(find_suite(name))


def _list(suite: Suite) -> None:
    from worldodds.cli.screen import console, table

    rows = table("scene", ">outcomes", "read from", "frame", "title", title=suite.title)
    for scene in suite.scenes:
        framed = "yes" if scene.frame else "not yet"
        rows.add_row(scene.id, str(len(scene.labels)), scene.readout.evidence, framed, scene.title)
    console().print(rows)


def _show(scene: Scene) -> None:
    from rich.markup import escape

    from worldodds.cli.screen import console, table

    screen = console()
    screen.print(f"[bold]{escape(scene.title)}[/bold]  ({scene.id})\n")
    if scene.placement:
        screen.print(f"[bold]Place[/bold]     {escape(_placed(scene.placement))}\n")
    screen.print(f"[bold]Prompt[/bold]    {escape(scene.prompt.strip())}\n")
    screen.print(
        f"[bold]Question[/bold]  {escape(scene.readout.question.strip())}  (read from the {scene.readout.evidence})\n"
    )
    if scene.reference:
        rows = table("outcome", ">odds", ">", title="Reference odds")
        for label, odds in zip(scene.labels, scene.reference.odds, strict=True):
            rows.add_row(escape(label), str(odds), f"{float(odds):.4f}")
        screen.print(rows)
        if scene.reference.uncertainty:
            screen.print(f"\n{scene.reference.uncertainty[0].upper()}{scene.reference.uncertainty[1:]}")
        screen.print(f"\n[bold]Why[/bold]       {escape(scene.reason.strip())}\n")
    else:
        screen.print(f"[bold]Outcomes[/bold]  {escape(', '.join(scene.labels))}; their odds are not known\n")
    nulls = table("null rule", "kind", "when", title="What is no outcome")
    for null in scene.readout.nulls:
        nulls.add_row(null.name, null.kind, escape(null.rule))
    screen.print(nulls)
    screen.print(
        f"\n[bold]Frame[/bold]     {scene.frame or 'none yet: the scene can be scored, not filmed'}", soft_wrap=True
    )


def _placed(placement: Placement) -> str:
    """Say a scene's track and group, what it is a variant of, and how each fact is known."""
    from worldodds.placement import CERTAINTY_WORDS

    told = [f"{placement.track} track, group {placement.group}"]
    if placement.variant:
        told.append(f"variant of {placement.variant.of} ({placement.variant.cue}: {placement.variant.changes})")
    known = [f"{fact} {CERTAINTY_WORDS[mark]}" for fact, mark in placement.certainty.items()]
    return "; ".join([*told, ", ".join(known)])
