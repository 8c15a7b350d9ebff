"""The simulator against a SimPy model of the same group, both in a closed loop with the same planner."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measure import Measurement
from benchmarks.simpy_group import SimpyGroup
from sluice.analyze.window import WindowAnalyzer
from sluice.control.loop import ControlLoop
from sluice.execute.base import Executor
from sluice.lab.rates import half_cosine
from sluice.model import Decision, Objective
from sluice.model.values import floats
from sluice.monitor.base import Monitor
from sluice.plan.registry import make_policy
from sluice.simulate import Burst, FixedService, GroupSpec, Rates, RoundRobin, Source, WorldSpec, simulate
from sluice.simulate.stream import EventStream
