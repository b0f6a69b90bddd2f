"""The steps of tests/bench: what each step runs, and the figures of each round.

A step is called with a Workplace, a Device and scale factors, and yields (label, measure). The label names the set of
figures in docs/performance.json; measure() returns the set as [Series, ...] and may be called again. A Series holds
one figure for each item (a query, or a codec and width) and round. Each round runs everything that a ratio compares,
so that a machine whose speed drifts distorts the ratio least. The figure is the median of the rounds. A CPU's time in
a round is the least of its runs, because other work on the machine can only add time; a GPU's is the median.
"""
import collections
import functools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent
MEAN = "mean"
COMPARED_UP_TO = 20  # beyond: `ssb run`, because `ssb compare` encodes all columns of lineorder, not only those read
DISK_GB = {True: 1.0, False: 0.4}  # per unit of the scale factor, with `ssb compare` and without
DECODED_ROWS = 250_000_000  # of `tessera lab widths`
UNSTEADY_QUERY = 0.10  # one query on a CPU, or one time on a GPU, differs so much between runs whose rounds agree
UNSTEADY_THREADS = 0.40  # one query on all threads of a CPU, where other work may hold up one of them
UNSTEADY_COMPILE = 0.10  # compile times on the host's processors, which may do other work


class CannotMeasure(Exception):
    """Why a step was left out, or what went wrong. `status` is the program's exit code; 0: nothing went wrong."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class Series:
    """`rounds` has each item's value for each round. `unsteady` is how much a single item (not the mean) may differ
    from run to run, in addition to the spread of the rounds."""

    def __init__(self, name, rounds, less_is_better=False, unsteady=0.0):
        self.name, self.less_is_better, self.unsteady = name, less_is_better, unsteady
        self.values = {item: [measured[item] for measured in rounds] for item in rounds[0]}
        if len(rounds[0]) > 1:
            self.values[MEAN] = [statistics.geometric_mean(measured.values()) for measured in rounds]

    def figure(self, item):
        return statistics.median(self.values[item])

    def spread(self, item):
        """Half the distance between the quartiles of the rounds, as a share of the figure."""
        values = self.values[item]
        if len(values) < 2:
            return 0.0
        quartiles = statistics.quantiles(values, n=4, method="inclusive")
        return (quartiles[2] - quartiles[0]) / 2 / self.figure(item)


class Device:
    def __init__(self, kind, name, machine, threads, instruction_set):
        self.kind, self.name, self.machine = kind, name, machine
        self.threads, self.instruction_set = threads, instruction_set


Report = collections.namedtuple("Report", "ms ceiling sqlite gb_per_second")  # ms, ceiling: by codec and query


class Workplace:
    """The programs, the folder for databases, the numbers of rounds and runs. Steps share files, no other state."""

    def __init__(self, program, folder, rounds, repeat, install_duckdb):
        self.program, self.folder = pathlib.Path(program).resolve(), pathlib.Path(folder).resolve()
        self.rounds, self.repeat, self.install_duckdb = rounds, repeat, install_duckdb

    def output(self, *command, **environment):
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env={**os.environ, **environment})
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise CannotMeasure(f"{' '.join(map(str, command[:3]))} ended with {done.returncode}: "
                                f"{said[-1] if said else done.stdout[-400:]}",
                                done.returncode if done.returncode in (1, 2, 3) else 3)
        return done.stdout

    def tessera(self, *arguments, **environment):
        return json.loads(self.output(self.program, *arguments, "--format", "json", **environment))

    def helper(self, name):
        """A program of tests/benches/bench_*.c in tessera's folder; it is built again if that is a build folder."""
        folder = self.program.parent
        if (folder / "CMakeCache.txt").exists():
            self.output("cmake", "--build", folder, "--target", name)
        if not (folder / name).is_file():
            raise CannotMeasure(f"there is no {name} beside {self.program}; use the program in a build folder", 3)
        return folder / name

    def database(self, sf):
        path = self.folder / f"sf{sf:g}" / "tessera"  # bench_duckdb.py uses the same path
        if not (path / "catalogue").exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            needed, free = DISK_GB[sf <= COMPARED_UP_TO] * sf, shutil.disk_usage(path.parent).free / 1e9
            if free < needed:
                raise CannotMeasure(f"scale factor {sf:g} may need {needed:.0f} GB of disk in {self.folder}, "
                                    f"{free:.0f} are free; give another --folder, or smaller scale factors", 3)
            self.output(self.program, "ssb", "load", "--sf", f"{sf:g}", "--db", path)
        return path

    def queries(self, device, sf, codecs, threads=None, verify="plain"):
        """Runs one round of the 13 queries with all codecs and checks the answers."""
        path = self.database(sf)
        if verify == "sqlite":
            (path / "reference.sqlite").unlink(missing_ok=True)  # it keeps SQLite's times; measure them again
        options = ["--db", path, "--device", device.kind, "--verify", verify, "--repeat", self.repeat, "--warmup", 2]
        if threads:
            options += ["--threads", threads]
        if sf <= COMPARED_UP_TO:
            reports = [self.tessera("ssb", "compare", *options, "--codecs", ",".join(codecs))]
        else:
            reports = [self.tessera("ssb", "run", *options, "--codec", codec) for codec in codecs]
        ms, ceiling, sqlite = {codec: {} for codec in codecs}, {codec: {} for codec in codecs}, {}
        for cell in (cell for report in reports for cell in report["queries"]):
            ms[cell["codec"]][cell["query"]] = cell["total_ms"]["min" if device.kind == "cpu" else "median"]
            ceiling[cell["codec"]][cell["query"]] = cell["percent_of_ceiling"]
            if cell["sqlite_ms"]:
                sqlite[cell["query"]] = cell["sqlite_ms"]
        return Report(ms, ceiling, sqlite, reports[0]["read_ceiling_gb_per_second"])


def over(left, right):
    return {item: left[item] / right[item] for item in right}


# ---- Steps ----

def codecs(place, device, scale_factors):
    """ratios between codecs over the 13 queries; on a CPU also to SQLite, on a GPU times, share of the ceiling"""
    for sf in scale_factors:
        yield f"codecs, SF {sf:g}", functools.partial(codecs_at, place, device, sf)


def codecs_at(place, device, sf):
    cpu = device.kind == "cpu"
    sqlite = cpu and sf <= 1  # SQLite answers again in each round, which takes a minute at SF 10
    names = ["plain", "gpu-star", "auto"] if cpu else ["plain", "gpu-for", "gpu-star", "auto"]
    rounds = [place.queries(device, sf, names, threads=1 if cpu else None, verify="sqlite" if sqlite else "plain")
              for _ in range(place.rounds)]
    series = [Series(f"plain / {codec}", [over(r.ms["plain"], r.ms[codec]) for r in rounds],
                     unsteady=UNSTEADY_QUERY if cpu else 0) for codec in names[1:]]
    if sqlite:
        series += [Series(f"SQLite / {codec}", [over(r.sqlite, r.ms[codec]) for r in rounds],
                          unsteady=UNSTEADY_QUERY) for codec in names]
    return series if cpu else series + gpu_series(rounds, names)


def gpu_series(rounds, names):
    """Milliseconds and the scans' share of the read ceiling. Only a GPU's times are steady enough to keep."""
    return ([Series(f"ms, {codec}", [r.ms[codec] for r in rounds], less_is_better=True, unsteady=UNSTEADY_QUERY)
             for codec in names] +
            [Series(f"% of ceiling, {codec}", [r.ceiling[codec] for r in rounds], unsteady=UNSTEADY_QUERY)
             for codec in names] +
            [Series("read ceiling", [{"GB/s": r.gb_per_second} for r in rounds])])


def threads(place, device, scale_factors):
    """the gain of two threads over one, and of all threads where there are more"""
    if device.threads < 2:
        raise CannotMeasure("there is one processor", 0)
    for sf in scale_factors:
        yield f"threads, SF {sf:g}", functools.partial(threads_at, place, device, sf)


def threads_at(place, device, sf):
    names, counts = ["plain", "auto"], sorted({1, 2, device.threads})
    rounds = [{count: place.queries(device, sf, names, threads=count).ms for count in counts}
              for _ in range(place.rounds)]
    return [Series(f"1 / {count} threads, {codec}", [over(r[1][codec], r[count][codec]) for r in rounds],
                   unsteady=UNSTEADY_THREADS) for count in counts[1:] for codec in names]


def scale(place, device, scale_factors):
    """time per row, smallest to largest scale factor; on a GPU also the times at the largest"""
    small, large = min(scale_factors), max(scale_factors)
    if small == large:
        raise CannotMeasure("it compares two scale factors; give two to --sf", 0)
    yield f"scale, SF {small:g} / SF {large:g}", functools.partial(scale_between, place, device, small, large)


def scale_between(place, device, small, large):
    """Times per row. They are divided by the scale factor, to which lineorder's rows are proportional within 0.1 %."""
    names, counts = ["plain", "auto"], sorted({1, device.threads}) if device.kind == "cpu" else [None]
    rounds = [{(sf, count): place.queries(device, sf, names, threads=count)
               for count in counts for sf in (small, large)} for _ in range(place.rounds)]
    series = []
    for count in counts:
        for codec in names:
            per_row = [{query: ratio * large / small for query, ratio in
                        over(r[small, count].ms[codec], r[large, count].ms[codec]).items()} for r in rounds]
            series.append(Series(f"{codec}, {count} thread{'' if count == 1 else 's'}" if count else codec, per_row,
                                 unsteady=UNSTEADY_QUERY if count in (None, 1) else UNSTEADY_THREADS))
    return series + (gpu_series([r[large, None] for r in rounds], names) if device.kind == "cuda" else [])


def decoders(place, device, scale_factors):
    """every decoder alone: on a CPU cycles a value, with `auto` also a row; on a GPU ms and share of the ceiling"""
    if device.kind == "cuda":
        yield "decoders", functools.partial(decoders_cuda, place)
        return
    yield "decoders", functools.partial(decoders_cpu, place, device)
    for sf in scale_factors:
        yield f"cycles a row, SF {sf:g}", functools.partial(rows_cpu, place, sf)


def decoders_cuda(place):
    rounds = [decoders_of(place.tessera("lab", "widths", "--device", "cuda", "--repeat", place.repeat,
                                        TESSERA_NVCOMP="/nowhere"))  # a peer takes time and is not compared
              for _ in range(place.rounds)]
    return [Series("ms", [ms for ms, _ in rounds], less_is_better=True, unsteady=UNSTEADY_QUERY),
            Series("% of ceiling", [share for _, share in rounds], unsteady=UNSTEADY_QUERY)]


def decoders_of(report):
    """Decode-and-sum in `tessera lab widths`: milliseconds, and the encoded bytes' share of the read ceiling, by codec
    and width. Codecs that are decoded layer by layer have no such time."""
    tables = {table["table"]: table["rows"] for table in report["experiments"][0]["tables"]}
    sizes, sums = tables["uniform values: size, bits a value"], tables["uniform values: decode and sum, ms"]
    ms, share = {}, {}
    for size, time in zip(sizes, sums):
        for key, milliseconds in time.items():
            if key.startswith("sum_ms_") and milliseconds:
                width = key.rsplit("_", 1)[1]
                encoded = size[f"bits_{width}"] / 8 * DECODED_ROWS * report["scale"]
                ms[f"{time['codec']} {width}"] = milliseconds
                share[f"{time['codec']} {width}"] = 100 * encoded / (milliseconds * 1e-3) / report["read_ceiling"]
    return ms, share


def decoders_cpu(place, device):
    bench, series = place.helper("bench_cpu"), []
    for isa in ("avx2", "avx512") if device.instruction_set == "avx512" else (device.instruction_set,):
        decode, fetch = [], []
        for _ in range(place.rounds):
            heading, rows = table_rows(place.output(bench, TESSERA_ISA=isa), "codec")
            for columns, rounds in ((slice(1, 5), decode), (slice(5, 9), fetch)):  # not every codec can fetch
                rounds.append({f"{row[0]} {width}": float(cycles) for row in rows
                               for width, cycles in zip(heading[columns], row[columns])})
        series += [Series(f"decode, cycles, {isa}", decode, less_is_better=True, unsteady=UNSTEADY_QUERY),
                   Series(f"fetch, cycles, {isa}", fetch, less_is_better=True, unsteady=UNSTEADY_QUERY)]
    return series


def rows_cpu(place, sf):
    bench, rounds = place.helper("bench_cpu"), []
    for _ in range(place.rounds):
        _, rows = table_rows(place.output(bench, "--db", place.database(sf), "auto"), "query")
        rounds.append({row[0]: float(row[1]) for row in rows if row[0] != MEAN})
    return [Series("auto", rounds, less_is_better=True, unsteady=UNSTEADY_QUERY)]


def table_rows(text, heading):
    """The words of each line below the heading line, which begins with `heading`."""
    lines = [line.split() for line in text.splitlines()]
    first = next(number for number, words in enumerate(lines) if words[:1] == [heading])
    return lines[first], [words for words in lines[first + 1:] if words]


def compile_time(place, device, scale_factors):
    """compile time of each of the 13 kernels, all in parallel, with the kernel cache off"""
    yield "compile", functools.partial(compile_times, place, min(scale_factors))


def compile_times(place, sf):
    names = ["plain", "gpu-star", "auto"]
    path, rounds = place.database(sf), []
    for _ in range(place.rounds):
        report = {}
        for codec in names:
            queries = place.tessera("ssb", "run", "--db", path, "--device", "cuda", "--codec", codec, "--repeat", 1,
                                    "--warmup", 0, "--verify", "none", TESSERA_KERNEL_CACHE="")["queries"]
            report[codec] = {cell["query"]: cell["compile_ms"] for cell in queries}
        rounds.append(report)
    return [Series(f"ms, {codec}", [r[codec] for r in rounds], less_is_better=True, unsteady=UNSTEADY_COMPILE)
            for codec in names]


def upload(place, device, scale_factors):
    """GB/s of columns into GPU memory, and their ratio to a copy from pinned memory"""
    yield "upload", functools.partial(upload_rates, place)


def upload_rates(place):
    bench, rounds = place.helper("bench_upload"), []
    for _ in range(place.rounds):
        rows = table_rows(place.output(bench, 1024, place.repeat), "way")[1]
        rounds.append({row[0]: float(row[1]) for row in rows})
    return [Series("GB/s", [{"upload": r["upload"]} for r in rounds]),
            Series("upload / copy from pinned", [{"1 GiB": r["upload"] / r["pinned"]} for r in rounds])]


def duckdb(place, device, scale_factors):
    """ratio of DuckDB's time to ours on all threads, with the same rows and answers"""
    python = duckdb_python(place)
    for sf in scale_factors:
        yield f"duckdb, SF {sf:g}", functools.partial(duckdb_at, place, python, sf)


def duckdb_at(place, python, sf):
    place.database(sf)
    report = json.loads(place.output(python, TESTS / "bench_duckdb.py", "--program", place.program, "--sf",
                                     f"{sf:g}", "--folder", place.folder, "--format", "json"))
    turns = [dict(zip((cell["query"] for cell in report["queries"]), ratios))
             for ratios in zip(*(cell["turns"] for cell in report["queries"]))]
    return [Series(f"DuckDB {report['duckdb']} / auto", turns, unsteady=UNSTEADY_THREADS)]


def duckdb_python(place):
    """A Python that has DuckDB: this one, or with --duckdb one in the folder, where pip installs it."""
    if subprocess.run([sys.executable, "-c", "import duckdb"], stderr=subprocess.DEVNULL).returncode == 0:
        return sys.executable
    python = place.folder / "duckdb" / "bin" / "python"
    if not python.exists() and not place.install_duckdb:
        raise CannotMeasure("the Python package duckdb is not installed; with --duckdb it is installed into the "
                            "folder of the databases", 0)
    if not python.exists():
        place.output(sys.executable, "-m", "venv", python.parent.parent)
    if subprocess.run([python, "-c", "import duckdb"], stderr=subprocess.DEVNULL).returncode != 0:
        place.output(python, "-m", "pip", "install", "--quiet", "duckdb")
    return python


Step = collections.namedtuple("Step", "name measure scale_factors quick")  # scale factors by kind of device

STEPS = [
    Step("codecs", codecs, {"cpu": [1, 10], "cuda": [20]}, {"cpu": [1], "cuda": [20]}),
    Step("decoders", decoders, {"cpu": [1, 10], "cuda": []}, {"cpu": [1], "cuda": []}),
    Step("compile", compile_time, {"cuda": [1]}, {"cuda": [1]}),
    Step("upload", upload, {"cuda": []}, {"cuda": []}),
    Step("threads", threads, {"cpu": [1, 10]}, {"cpu": [1]}),
    Step("scale", scale, {"cpu": [1, 10], "cuda": [20, 100]}, {"cpu": [0.1, 1], "cuda": [1, 20]}),
    Step("duckdb", duckdb, {"cpu": [1, 10]}, {"cpu": [1]}),
]
