"""`sluice pipeline jars`: what spark-submit must be given to read Kafka."""


def run() -> None:
    """Print the Kafka connector's jars, fetched once, as spark-submit's --jars takes them."""
    from sluice.pipeline.connector import connector_jars

    print(",".join(str(jar) for jar in connector_jars()))
