"""Waiting in line: formulas from arrival and service to waiting and response times.

Rates are per second, times in seconds. A queue that cannot keep up waits for ever: infinity, never a
negative number. `service_eps` is the rate of one server.
"""

from sluice.theory.queueing.allen_cunneen import LightTraffic, allen_cunneen_response_s, allen_cunneen_wait_s
from sluice.theory.queueing.kingman import kingman_wait_s
from sluice.theory.queueing.md1 import (
    md1_response_quantile_s,
    md1_response_s,
    md1_wait_at_most,
    md1_wait_quantile_s,
    md1_wait_s,
)
from sluice.theory.queueing.mm1 import mm1_response_quantile_s, mm1_response_s, mm1_wait_quantile_s, mm1_wait_s
from sluice.theory.queueing.mmc import (
    erlang_c,
    mmc_response_quantile_s,
    mmc_response_s,
    mmc_wait_quantile_s,
    mmc_wait_s,
)

__all__ = [
    "LightTraffic",
    "allen_cunneen_response_s",
    "allen_cunneen_wait_s",
    "erlang_c",
    "kingman_wait_s",
    "md1_response_quantile_s",
    "md1_response_s",
    "md1_wait_at_most",
    "md1_wait_quantile_s",
    "md1_wait_s",
    "mm1_response_quantile_s",
    "mm1_response_s",
    "mm1_wait_quantile_s",
    "mm1_wait_s",
    "mmc_response_quantile_s",
    "mmc_response_s",
    "mmc_wait_quantile_s",
    "mmc_wait_s",
]
