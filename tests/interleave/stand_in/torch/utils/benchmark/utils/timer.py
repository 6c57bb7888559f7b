from torch.utils.benchmark.utils import common


class Timer:
    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=None, globals=None, label=None, sub_label=None, description=None,
                 env=None, num_threads=1, language="python"):
        self._globals = dict(globals or {})
        self._task_spec = common.TaskSpec(stmt, setup, label, sub_label, description, env, num_threads)

    def timeit(self, number=1000000):
        raise RuntimeError("the kit did not take over")

    blocked_autorange = timeit
