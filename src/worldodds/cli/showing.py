"""What there is: suites, their scenes, and one scene in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldodds.scene import Scene, Suite


def suites() -> None:
    """List the suites that ship with worldodds."""
    from rich.console import Console
    from rich.table import Table

    from worldodds.suites import builtin_suites, find_suite

    table = Table("suite", "version", "scenes", "rollouts each", "what it is", box=None)
    for name in builtin_suites():
        suite = find_suite(name)
        table.add_row(name, suite.version, str(len(suite.scenes)), str(suite.protocol.rollouts), suite.title)
    Console().print(table)


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
    from rich.console import Console
    from rich.table import Table

    table = Table("scene", "outcomes", "read from", "filmed from a frame", "title", box=None, title=suite.title)
    for scene in suite.scenes:
        framed = "yes" if scene.frame else "not yet"
        table.add_row(scene.id, str(len(scene.labels)), scene.readout.evidence, framed, scene.title)
    Console().print(table)


def _show(scene: Scene) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    console.print(f"[bold]{escape(scene.title)}[/bold]  ({scene.id})\n")
    console.print(f"[bold]Prompt[/bold]    {escape(scene.prompt.strip())}\n")
    console.print(
        f"[bold]Question[/bold]  {escape(scene.readout.question.strip())}  (read from the {scene.readout.evidence})\n"
    )
    if scene.reference and scene.reference.odds:
        table = Table("outcome", "odds", "", box=None, title="Reference odds", title_justify="left")
        for label, odds in zip(scene.labels, scene.reference.odds, strict=True):
            table.add_row(escape(label), str(odds), f"{float(odds):.4f}")
        console.print(table)
        console.print(f"\n[bold]Why[/bold]       {escape(scene.reason.strip())}\n")
    else:
        console.print(f"[bold]Outcomes[/bold]  {escape(', '.join(scene.labels))}; their odds are not known\n")
    nulls = Table("null rule", "kind", "when", box=None, title="What is no outcome", title_justify="left")
    for null in scene.readout.nulls:
        nulls.add_row(null.name, null.kind, escape(null.rule))
    console.print(nulls)
    console.print(
        f"\n[bold]Frame[/bold]     {scene.frame or 'none yet: the scene can be scored, not filmed'}", soft_wrap=True
    )
