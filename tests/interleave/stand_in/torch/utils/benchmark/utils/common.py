"""Names as in PyTorch 2."""
import contextlib
import dataclasses
import statistics


@dataclasses.dataclass
class TaskSpec:
    stmt: str
    setup: str
    label: str = None
    sub_label: str = None
    description: str = None
    env: str = None
    num_threads: int = 1


@dataclasses.dataclass
class Measurement:
    number_per_run: int
    raw_times: list
    task_spec: TaskSpec

    @property
    def median(self):
        return statistics.median(self.raw_times) / self.number_per_run


@contextlib.contextmanager
def set_torch_threads(n):
    yield
