"""Names as in Triton 3: a kernel is compiled for each set of its keyword arguments, and launched by `run`, which returns it."""
import collections
import inspect
import textwrap

Metadata = collections.namedtuple("Metadata", "name num_warps num_stages shared")


class CompiledKernel:
    def __init__(self, function, words):
        self.metadata = Metadata(function.__name__, words.get("num_warps", 4), words.get("num_stages", 3), words.get("BLOCK", 1) * 16)
        constants = "".join("\tmov.u32 %%r1, %s;\n" % value for name, value in sorted(words.items()))
        line = inspect.getsourcelines(function.fn)[1]
        self.asm = {"ptx": "// compiled\n.visible .entry %s(\n)\n{\n\t.loc\t1 %d 3\n$L__tmp0:\n%s\tret;\n}\n\t.file\t1 \"a.py\"\n"
            "\t.section\t.debug_abbrev\n\t{\n.b8 %d\n\t}\n" % (self.metadata.name, line, constants, line), "cubin": b""}
        self.n_regs, self.n_spills = 40, 0


class KernelInterface:
    def __getitem__(self, grid):
        return lambda *arguments, **words: self.run(grid=grid, warmup=False, *arguments, **words)


class JITFunction(KernelInterface):
    def __init__(self, fn):
        self.fn, self.__name__ = fn, fn.__name__
        source = textwrap.dedent(inspect.getsource(fn))
        self.src = source[source.index("def "):]
        self.cache = {}

    def run(self, *arguments, grid, warmup, **words):
        key = str(sorted(words.items()))
        if key not in self.cache:
            self.cache[key] = CompiledKernel(self, words)
        if not warmup:
            self.fn(*arguments, **{name: value for name, value in words.items() if not name.startswith("num_")})
        return self.cache[key]


def jit(fn):
    return JITFunction(fn)
