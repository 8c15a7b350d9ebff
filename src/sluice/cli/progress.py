"""A progress bar on stderr, where somebody looks at it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(what: str, total: float, *, steps: bool = False) -> Iterator[Callable[[float], None]]:
    """Gives a function that takes how far it is: seconds of a run, or `steps` done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    screen = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if steps else TaskProgressColumn(),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda at: bar.update(task, completed=at)
