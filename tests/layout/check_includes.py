#!/usr/bin/env python3
"""Refuses an include that points against the arrows of the design, and a file too long to read in one sitting.

    base <- kernel <- device <- operator <- solver <- fit <- apps        base <- flow, analysis <- fit        base <- io <- apps
    analysis <- report

    check_includes.py ROOT          names each offending line; exit 1 if there is one
    check_includes.py --self-test   runs the check on a made-up tree, to show that it can fail
"""
import re
import sys
import tempfile
from pathlib import Path

MAX_LINES = 600

# What a layer may include besides itself and the public headers. A decision (flow) sees no arithmetic; a back-end nothing above
# device; files and remarks about a finished model (io, analysis) no machinery at all.
SEES = {
    "base": set(),
    "kernel": {"base"},
    "device": {"base", "kernel"},
    "backends": {"base", "kernel", "device"},
    "operator": {"base", "kernel", "device"},
    "solver": {"base", "kernel", "device", "operator"},
    "flow": {"base"},
    "io": {"base"},
    "analysis": {"base"},
    "report": {"base", "analysis"},
    "fit": {"base", "kernel", "device", "operator", "solver", "flow", "analysis"},
    "apps": {"base", "fit", "io", "analysis", "report"},
    "python": set(),
    "mpi": set(),
    "public": set(),
}
# What measures or checks the machinery itself may look at it, and the one file that lists the back-ends for the others. How fast the
# kernels of the cpu back-end could be at best, only a benchmark that names it can say.
INSPECTORS = re.compile(r"apps/(bench/[^/]*|cli/selftest[^/]*|common/backends\.cpp)$")
INSPECTED = {"device", "kernel", "operator", "solver"}
YARDSTICK, MEASURED = "apps/bench/machine_limit.cpp", "cpu"

# All that the program sees of the experiments.
DOOR = ("apps/cli/main.cpp", "apps/reproduce/verb.hpp")

# `#include` and the name that a Highway file gives itself to be included again for each instruction set.
INCLUDE = re.compile(r'^\s*#\s*(?:include|define\s+HWY_TARGET_INCLUDE)\s*[<"]([^>"]+)[>"]')


def layer_of(path):
    """('backends', 'cpu') for src/backends/cpu/x.cpp; the second is None but for concrete back-ends."""
    parts = path.parts
    if parts[0] == "include":
        return "public", None
    if parts[0] in ("apps", "python"):
        return parts[0], None
    concrete = parts[2] if parts[1] == "backends" and len(parts) > 3 else None
    return parts[1], concrete


def resolve(root, includer, name):
    """The file of the tree that an include means, relative to root; None for a system or library header."""
    for folder in (includer.parent, Path("src"), Path("include"), Path("apps")):
        candidate = (root / folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def refusal(includer, target):
    """Why `includer` may not include `target`, or None."""
    layer, concrete = layer_of(includer)
    other, other_concrete = layer_of(target)
    if includer.as_posix() == YARDSTICK and other_concrete == MEASURED:
        return None
    registry = includer.as_posix() == "src/backends/registry.cpp"
    if other_concrete is not None and other_concrete != concrete and not registry:
        return f"only src/backends/registry.cpp may name the back-end '{other_concrete}'"
    if (includer.as_posix(), target.as_posix()) == DOOR:
        return None
    if layer == other == "apps" and target.parts[1] not in (includer.parts[1], "common"):
        return f"apps/{includer.parts[1]} may include apps/common, not apps/{target.parts[1]}"
    allowed = SEES[layer] | {layer, "public"}
    if INSPECTORS.search(includer.as_posix()):
        allowed |= INSPECTED
    if other not in allowed:
        return f"{layer} may include {', '.join(sorted(allowed))}, not {other}"
    return None


def check(root):
    root = root.resolve()
    complaints = []
    folders = [folder for folder in ("include", "src", "apps", "python") if (root / folder).is_dir()]
    files = [p for folder in folders for p in (root / folder).rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".inl", ".cu", ".cuh")]
    for path in sorted(files):
        includer = path.relative_to(root)
        if includer.parts[0] == "src" and (len(includer.parts) < 3 or includer.parts[1] not in SEES):
            complaints.append(f"{includer}: this folder is no layer of the design")
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MAX_LINES:
            complaints.append(f"{includer}: {len(lines)} lines; over {MAX_LINES} a file holds more than one idea")
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            target = match and resolve(root, includer, match.group(1))
            reason = target and refusal(includer, target)
            if reason:
                complaints.append(f"{includer}:{number}: {match.group(1)}: {reason}")
    for path in sorted(p for p in (root / "tests").rglob("*") if p.suffix in (".hpp", ".cpp", ".py")):
        length = len(path.read_text(encoding="utf-8").splitlines())
        if length > MAX_LINES:
            complaints.append(f"{path.relative_to(root)}: {length} lines; over {MAX_LINES} a file holds more than one idea")
    return len(files), complaints


def self_test():
    good = {
        "include/flashdiffusion/model.hpp": "#include <vector>\n",
        "src/base/view.hpp": "#include <flashdiffusion/model.hpp>\n",
        "src/device/backend.hpp": '#include "base/view.hpp"\n',
        "src/backends/shared.hpp": '#include "device/backend.hpp"\n',
        "src/backends/cpu/tile.hpp": '#include "backends/shared.hpp"\n',
        "src/backends/cpu/cpu.hpp": '#include "tile.hpp"\n#include "device/backend.hpp"\n',
        "src/backends/reference/naive.hpp": '#include "device/backend.hpp"\n',
        "src/backends/registry.cpp": '#include "backends/cpu/cpu.hpp"\n#include "backends/reference/naive.hpp"\n',
        "src/solver/lanczos.hpp": '#include "device/backend.hpp"\n',
        "src/flow/potential.hpp": '#include "base/view.hpp"\n',
        "src/io/npy.hpp": '#include "base/view.hpp"\n',
        "src/fit/fit.cpp": '#include "solver/lanczos.hpp"\n#include "flow/potential.hpp"\n',
        "apps/cli/info.cpp": '#include "io/npy.hpp"\n',
        "apps/cli/selftest.cpp": '#include "device/backend.hpp"\n#include "common/console.hpp"\n',
        "apps/common/console.hpp": "#include <string>\n",
        "apps/cli/main.cpp": '#include "reproduce/verb.hpp"\n',
        "apps/reproduce/verb.hpp": '#include "common/console.hpp"\n',
        "apps/reproduce/t6.cpp": '#include "common/console.hpp"\n#include "reproduce/verb.hpp"\n',
        "apps/bench/xgemm.cpp": '#include "device/backend.hpp"\n#include "common/console.hpp"\n',
        "apps/bench/machine_limit.cpp": '#include "backends/cpu/cpu.hpp"\n',
        "python/src/fit.cpp": "#include <flashdiffusion/model.hpp>\n",
        "tests/unit/anything.cpp": '#include "backends/cpu/cpu.hpp"\n',
    }
    bad = {  # one file each, added to or replacing one of the good tree
        "against the arrow": ("src/base/view.hpp", '#include "device/backend.hpp"\n'),
        "against the arrow, by a relative path": ("src/base/view.hpp", '#include "../device/backend.hpp"\n'),
        "against the arrow, in angle brackets": ("src/solver/plan.hpp", "#  include <flow/potential.hpp>\n"),
        "flow sees no arithmetic": ("src/flow/probe.hpp", '#include "solver/lanczos.hpp"\n'),
        "io sees no machinery": ("src/io/npz.cpp", '#include "device/backend.hpp"\n'),
        "a concrete back-end named outside the registry": ("src/fit/fit.cpp", '#include "backends/cpu/cpu.hpp"\n'),
        "one back-end includes another": ("src/backends/cpu/tile.hpp", '#include "backends/reference/naive.hpp"\n'),
        "shared back-end code names a back-end": ("src/backends/shared.hpp", '#include "cpu/tile.hpp"\n'),
        "a public header shows an internal one": ("include/flashdiffusion/model.hpp", '#include "base/view.hpp"\n'),
        "a verb reaches into the solver": ("apps/cli/info.cpp", '#include "solver/lanczos.hpp"\n'),
        "a benchmark names a back-end": ("apps/bench/xgemm.cpp", '#include "backends/cpu/cpu.hpp"\n'),
        "the yardstick names another back-end": ("apps/bench/machine_limit.cpp", '#include "backends/reference/naive.hpp"\n'),
        "one program includes another": ("apps/bench/fit.cpp", '#include "cli/info.cpp"\n'),
        "a verb includes an experiment": ("apps/cli/info.cpp", '#include "reproduce/verb.hpp"\n'),
        "the program reaches past the verb": ("apps/cli/main.cpp", '#include "reproduce/t6.cpp"\n'),
        "an experiment includes a verb": ("apps/reproduce/t6.cpp", '#include "cli/info.cpp"\n'),
        "an experiment reaches into the solver": ("apps/reproduce/t6.cpp", '#include "solver/lanczos.hpp"\n'),
        "what programs share includes one of them": ("apps/common/console.hpp", '#include "cli/info.cpp"\n'),
        "a binding reaches past the public API": ("python/src/fit.cpp", '#include "base/view.hpp"\n'),
        "a Highway file that includes another layer": ("src/backends/cpu/x.cpp", '#define HWY_TARGET_INCLUDE "fit/fit.cpp"\n'),
        "a folder that is no layer": ("src/utilities/misc.hpp", "\n"),
        "a long file": ("src/base/long.cpp", "\n" * (MAX_LINES + 1)),
        "a long test": ("tests/unit/long.cpp", "\n" * (MAX_LINES + 1)),
    }
    failures = []
    for name, change in [("the good tree", None), *bad.items()]:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**good, **({change[0]: change[1]} if change else {})}.items():
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            _, complaints = check(Path(folder))
        if len(complaints) != (1 if change else 0):
            failures.append(f"{name}: {complaints or 'not refused'}")
    return len(bad) + 1, failures


if len(sys.argv) != 2:
    sys.exit(__doc__)
if sys.argv[1] == "--self-test":
    counted, found = self_test()
    print(f"{counted} made-up trees, {len(found)} judged wrongly")
else:
    counted, found = check(Path(sys.argv[1]))
    print(f"{counted} files, {len(found)} complaints")
print("\n".join(found))
sys.exit(1 if found else 0)
