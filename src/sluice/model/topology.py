"""Stages joined by topics: who reads what, who writes what, and the paths an event can take."""

from dataclasses import dataclass
from functools import cached_property

from sluice.errors import InputError, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One consumer group of a topology, by its name, and the topics it reads and writes."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A graph without cycles in which every stage is fed, directly or through others, by `sources`.

    `sources` are the topics written from outside. A topic that several stages read goes to each of them whole.
    """

    stages: tuple[Stage, ...]
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [stage.name for stage in self.stages]
        if not names:
            raise InputError("the topology has no stages; describe at least one")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"stage {twice!r} is described twice; give each stage a name of its own")
        written = {*self.sources, *(topic for stage in self.stages for topic in stage.outputs)}
        for stage in self.stages:
            if not stage.inputs:
                raise InputError(f"stage {stage.name!r} reads no topic; name at least one in its inputs")
            for topic in stage.inputs:
                if topic not in written:
                    raise InputError(
                        f"stage {stage.name!r} reads {topic!r}, which nobody writes; {did_you_mean(topic, written)}"
                    )
        if len(self.order) < len(self.stages):
            raise InputError(
                f"stages {', '.join(self._circling())} feed each other in a circle; a topology has no cycles: "
                "take a topic out of the inputs of one of them"
            )

    def stage(self, name: str) -> Stage:
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise InputError(f"stage {name!r} is unknown; {did_you_mean(name, (s.name for s in self.stages))}")

    @cached_property
    def order(self) -> tuple[Stage, ...]:
        """Stages, each after those that feed it; by name where it does not matter."""
        ready = set(self.sources)
        waiting = sorted(self.stages, key=lambda stage: stage.name)
        ordered: list[Stage] = []
        while fed := [stage for stage in waiting if ready.issuperset(stage.inputs)]:
            ordered += fed
            ready.update(topic for stage in fed for topic in stage.outputs)
            waiting = [stage for stage in waiting if stage not in fed]
        return tuple(ordered)

    def _circling(self) -> list[str]:
        """Those in a circle; who is merely fed by one, or by nobody in it, is not to blame."""
        rest = [stage for stage in self.stages if stage not in self.order]
        while idle := [s for s in rest if not any(topic in r.inputs for r in rest for topic in s.outputs)]:
            rest = [stage for stage in rest if stage not in idle]
        return sorted(stage.name for stage in rest)

    @cached_property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Every way from a source to a stage that feeds nobody, as names of stages."""
        found: list[tuple[str, ...]] = []
        start: list[tuple[str, ...]] = [
            (stage.name,) for stage in self.order if any(topic in self.sources for topic in stage.inputs)
        ]
        while start:
            path = start.pop(0)
            after = self.readers(path[-1])
            if after:
                start += [(*path, stage.name) for stage in after]
            else:
                found.append(path)
        return tuple(found)

    def readers(self, name: str) -> tuple[Stage, ...]:
        """The stages that read what this one writes."""
        outputs = self.stage(name).outputs
        return tuple(stage for stage in self.order if any(topic in outputs for topic in stage.inputs))
