"""Start and stop one broker process."""

import base64
import shutil
import signal
import socket
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from sluice.broker.install import kafka_class_path
from sluice.broker.java import java_command
from sluice.broker.settings import JAVA_OPTIONS, LOGGING, server_properties
from sluice.errors import InputError, UnavailableError

READY_LIMIT_S = 60.0
STOP_LIMIT_S = 20.0
HOST = "127.0.0.1"


class Broker:
    """A single-node Kafka on loopback, as a context manager.

    Without `data` it keeps its files in a temporary folder and removes them when it stops; a folder given by the caller
    stays. After `kill` (a crash) `start` continues on the same files and the same address.
    """

    def __init__(self, *, data: Path | None = None, port: int | None = None, outlive: bool = False) -> None:
        self._given = data
        self._fixed_port = port
        self._outlive = outlive
        """True: the broker goes on when this process ends."""
        self._data: Path | None = None
        self._ports: tuple[int, int] | None = None
        """The clients' port and the controller's."""
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """The address clients connect to."""
        if self._ports is None:
            raise UnavailableError("the broker has not been started; call start() first")
        return f"{HOST}:{self._ports[0]}"

    @property
    def pid(self) -> int:
        if self._process is None:
            raise UnavailableError("the broker is not running; call start() first")
        return self._process.pid

    @property
    def data(self) -> Path:
        if self._data is None:
            raise UnavailableError("the broker has not been started; call start() first")
        return self._data

    def start(self) -> None:
        """Return when the broker answers; UnavailableError when it does not within a minute."""
        if self._process is not None and self._process.poll() is None:
            return
        class_path = kafka_class_path()
        if self._ports is None:
            self._ports = _choose_ports(self._fixed_port)
        port, controller_port = self._ports
        data = self._prepare_folder()
        properties = data / "server.properties"
        properties.write_text(server_properties(port=port, controller_port=controller_port, log_folder=data / "log"))
        (data / "log4j2.properties").write_text(LOGGING)
        java = [java_command(), *JAVA_OPTIONS, f"-Dlog4j2.configurationFile={data / 'log4j2.properties'}"]
        java += [f"-Djava.io.tmpdir={_scratch(data)}", "-cp", class_path]
        if not (data / "log" / "meta.properties").exists():
            _format(java, properties)
        with (data / "server.out").open("ab") as out:
            # A session of its own: Ctrl-C in the terminal is for us, and we stop the broker last.
            self._process = subprocess.Popen(
                [*java, "kafka.Kafka", str(properties)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        if not self._outlive:
            self._guard = _stop_with_us(self._process.pid, data if self._given is None else None)
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop cleanly and remove a temporary folder. Stopping twice is the same as once."""
        self._end(signal.SIGTERM)
        if self._given is None and self._data is not None:
            shutil.rmtree(self._data, ignore_errors=True)
            self._data = None

    def kill(self) -> None:
        """Crash it: no goodbye, the files stay as they are."""
        self._end(signal.SIGKILL)

    def __enter__(self) -> "Broker":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _prepare_folder(self) -> Path:
        if self._data is not None:
            return self._data
        if self._given is None:
            self._data = Path(mkdtemp(prefix="sluice-broker-"))
            return self._data
        folder = self._given.absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            strange = any(folder.iterdir()) and not (folder / "server.properties").exists()
        except OSError as error:
            raise InputError(f"data folder {folder} cannot be used: {error.strerror}; choose another") from error
        if strange:
            raise InputError(f"data folder {folder} holds something else than a broker's data; choose an empty one")
        self._data = folder
        return folder

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + READY_LIMIT_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise UnavailableError(f"the broker stopped while starting: {self._last_words()}")
            if answers(self.bootstrap):
                return
            time.sleep(0.1)
        raise UnavailableError(f"the broker did not answer within {READY_LIMIT_S:.0f} s: {self._last_words()}")

    def _last_words(self) -> str:
        lines = (self.data / "server.out").read_text(errors="replace").splitlines()
        telling = [line for line in lines if "ERROR" in line or "Exception" in line or "FATAL" in line]
        return (telling or lines or ["it wrote nothing"])[0 if telling else -1]

    def _end(self, signal_number: signal.Signals) -> None:
        if self._process is not None:
            end_process(self._process, signal_number)
            self._process = None
        if self._guard is not None:
            end_process(self._guard, signal.SIGKILL)
            self._guard = None


def answers(bootstrap: str, limit_s: float = 2.0) -> bool:
    """True when a broker that can serve requests is at `bootstrap`."""
    host, _, port = bootstrap.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=limit_s).close()
    except OSError:
        return False
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    # The port opens before the broker may serve; the cluster's list of live brokers tells.
    try:
        return bool(AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=limit_s).brokers)
    except KafkaException:
        return False


def end_process(process: subprocess.Popen[bytes], signal_number: signal.Signals) -> None:
    """Signal, wait, and insist when it does not end; a stopped process is woken so that it can."""
    if process.poll() is None:
        process.send_signal(signal_number)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _stop_with_us(pid: int, folder: Path | None) -> subprocess.Popen[bytes]:
    """A watcher that ends `pid` when this process ends, however it ends: its input pipe closes then."""
    script = 'cat; kill -TERM "$1"; kill -CONT "$1"; while kill -0 "$1"; do sleep 0.1; done; [ -z "$2" ] || rm -rf "$2"'
    return subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", str(pid), str(folder or "")],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _scratch(data: Path) -> Path:
    """What Java unpacks goes with the data, even when the broker is killed before it can tidy up."""
    folder = data / "tmp"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _format(java: list[str], properties: Path) -> None:
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    # An identity that starts with a dash would be read as an option.
    command = [*java, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(properties)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=READY_LIMIT_S, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise UnavailableError(f"the broker's data folder could not be formatted: {said[0]}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            return False
        return True


def _choose_ports(wanted: int | None) -> tuple[int, int]:
    """The wanted port (or a free one) for clients and another free one for the controller."""
    if wanted is not None and not _is_free(wanted):
        raise InputError(f"port {wanted} is taken; choose another or leave it off")
    probes = [socket.create_server((HOST, 0)) for _ in range(2)]
    first, second = (int(probe.getsockname()[1]) for probe in probes)
    for probe in probes:
        probe.close()
    if wanted is None:
        return first, second
    return wanted, second if first == wanted else first
