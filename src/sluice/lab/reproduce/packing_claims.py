"""What the variable-item-size packing paper claims."""

from sluice.lab.reproduce.claim import Claim, Rule

MODIFIED = ("mwf", "mbf", "mwfp", "mbfp")
RECORDED = "landau_measurements_5.json"

CLAIMS = (
    Claim(
        key="front",
        text="on the Pareto front of (CBS, Rscore) for every delta of 5 and more",
        published=("mwf", "mbf", "mbfp"),
        rule=Rule.AMONG,
    ),
    Claim(
        key="fewest",
        text="fewest consumers for every delta of 5 and more",
        published=("bfd",),
        rule=Rule.AMONG,
    ),
    Claim(
        key="most",
        text="most consumers, and second most, for every delta of 5 and more",
        published=("nf", "nfd"),
        rule=Rule.SAME,
    ),
    Claim(
        key="most-order",
        text="most consumers: NF, then NFD (above the fewest, mean of delta 5 and more, NFD → NF)",
        published=None,
        rule=Rule.ORDER,
        unit="%",
    ),
    Claim(
        key="modified-cbs",
        text="best CBS of the modified algorithms for every delta of 5 and more",
        published=("mbfp",),
        rule=Rule.SAME,
    ),
    Claim(
        key="best-five",
        text="the five lowest Rscores for every delta of 5 and more",
        published=(*MODIFIED, "nfd"),
        rule=Rule.SAME,
    ),
    Claim(
        key="rises",
        text="mean Rscore rises with delta for all (steps closer than the tolerance count as level)",
        published=("nf", "ff", "bf", "wf", "nfd", "ffd", "bfd", "wfd", *MODIFIED),
        rule=Rule.SAME,
    ),
    Claim(
        key="start",
        text="where sizes start (drawn, all 0, 50 or 100 %) makes no difference: MWF's Rscore against NFD's, delta 25",
        published=None,
        rule=Rule.LEVEL,
        unit="%",
    ),
    Claim(key="rscore-5-nfd", text="MWF at delta 5: Rscore against NFD", published=-55.0, rule=Rule.PERCENT, unit="%"),
    Claim(key="rscore-5-bfd", text="MWF at delta 5: Rscore against BFD", published=-62.0, rule=Rule.PERCENT, unit="%"),
    Claim(key="count-5-bfd", text="MWF at delta 5: consumers against BFD", published=11.8, rule=Rule.PERCENT, unit="%"),
    Claim(
        key="rscore-25-nfd", text="MWF at delta 25: Rscore against NFD", published=-23.0, rule=Rule.PERCENT, unit="%"
    ),
    Claim(
        key="count-25-bfd", text="MWF at delta 25: consumers against BFD", published=8.8, rule=Rule.PERCENT, unit="%"
    ),
    Claim(key="mwf-count", text="MWF, latency run: consumers", published=15.0, unit="consumers"),
    Claim(key="mwf-p90", text="MWF, latency run: p90 of the samples above 0", published=4.52, unit="s"),
    Claim(key="kd15-p90", text="kd_15: p90", published=217.0, unit="s"),
    Claim(key="kd15-times", text="kd_15: p90 against MWF's, at equal consumers", published=48.0, unit="x"),
    Claim(key="kd24-p90", text="kd_24: p90", published=2.70, unit="s"),
    Claim(key="kd30-p90", text="kd_30: p90", published=1.11, unit="s"),
    Claim(key="kd31-p90", text="kd_31: p90", published=0.0, unit="s"),
    Claim(key="kd32-p90", text="kd_32: p90", published=0.0, unit="s"),
    Claim(key="kd24-more", text="kd_24: consumers against MWF", published=60.0, rule=Rule.PERCENT, unit="%"),
    Claim(key="kd30-more", text="kd_30: consumers against MWF", published=100.0, rule=Rule.PERCENT, unit="%"),
    Claim(key="kd31-more", text="kd_31: consumers against MWF", published=107.0, rule=Rule.PERCENT, unit="%"),
    Claim(key="kd32-more", text="kd_32: consumers against MWF", published=113.0, rule=Rule.PERCENT, unit="%"),
    Claim(key="kd27-max", text="kd_27: worst latency", published=40.0, unit="s"),
    Claim(
        key="kd-order",
        text="more consumers do not reliably cut latency: p90 of kd_24 < p90 of kd_27",
        published=None,
        rule=Rule.ORDER,
        unit="s",
    ),
    Claim(
        key="samples",
        text="fewer samples above 0 than MWF, of kd_15 to kd_32",
        published=("kd_24", "kd_30", "kd_31", "kd_32"),
        rule=Rule.SAME,
    ),
)
