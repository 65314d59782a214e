#!/usr/bin/env python3
"""Writes the inputs and the expected outputs of the examples into data/ as .npy files.

Inputs come from a fixed generator. Expected outputs are computed here in double precision from
the inputs as stored, and rounded once to the output type; nothing of ptoemu takes part. Needs
Python only. With --check nothing is written: the files must be what would be written.
"""

import math
import struct
import sys
from pathlib import Path

ROWS, COLS = 64, 128
DATA = Path(__file__).resolve().parent / "data"


def npy(fmt, shape, values):
    """A .npy file, version 1.0, C order; fmt is struct's letter of the element."""
    descr = {"f": "<f4", "e": "<f2"}[fmt]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(header))
        + header.encode("ascii")
        + struct.pack(f"<{len(values)}{fmt}", *values)
    )


def uniform(seed, n, low, high):
    """n values in [low, high): a 64-bit linear congruential generator, top 24 bits."""
    state = seed
    out = []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(low + (high - low) * (state >> 40) / 2**24)
    return out


def stored(fmt, values):
    """The values as the element type holds them."""
    return list(struct.unpack(f"<{len(values)}{fmt}", struct.pack(f"<{len(values)}{fmt}", *values)))


def rows(flat):
    return [flat[i : i + COLS] for i in range(0, len(flat), COLS)]


def flatten(matrix):
    return [v for row in matrix for v in row]


def product(a, b):
    columns = list(zip(*b))
    return [[math.fsum(map(float.__mul__, row, col)) for col in columns] for row in a]


def softmax(x):
    out = []
    for row in x:
        top = max(row)
        e = [math.exp(v - top) for v in row]
        total = math.fsum(e)
        out.append([v / total for v in e])
    return out


def rmsnorm(x, eps):
    return [[v / math.sqrt(math.fsum(w * w for w in row) / COLS + eps) for v in row] for row in x]


def online(files):
    """One step of online softmax; the state comes from a first block of keys."""
    first = rows(uniform(11, ROWS * COLS, -4.0, 4.0))
    v0 = rows(uniform(12, COLS * COLS, -1.0, 1.0))
    v1 = rows(uniform(13, COLS * COLS, -1.0, 1.0))
    m = stored("f", [max(row) for row in first])
    weights = [[math.exp(v - top) for v in row] for row, top in zip(first, m)]
    l = stored("f", [math.fsum(row) for row in weights])
    o = stored("f", flatten(product(weights, v0)))

    s = stored("f", uniform(14, ROWS * COLS, -4.0, 4.0))
    m_out = [max(top, max(row)) for top, row in zip(m, rows(s))]
    p = [[math.exp(v - top) for v in row] for row, top in zip(rows(s), m_out)]
    pv = stored("f", flatten(product(p, v1)))
    alpha = [math.exp(a - b) for a, b in zip(m, m_out)]
    l_out = [a * old + math.fsum(row) for a, old, row in zip(alpha, l, p)]
    o_out = [
        a * old + new for a, ro, rn in zip(alpha, rows(o), rows(pv)) for old, new in zip(ro, rn)
    ]
    matrices = {"s": s, "pv": pv, "o": o, "p": flatten(p), "o_out": o_out}
    vectors = {"m": m, "l": l, "m_out": m_out, "l_out": l_out}
    for name, values in matrices.items():
        files[f"online_softmax_{name}"] = npy("f", (ROWS, COLS), values)
    for name, values in vectors.items():
        files[f"online_softmax_{name}"] = npy("f", (ROWS,), values)


def all_files():
    files = {}
    for name, fmt, seed in [("softmax", "f", 1), ("softmax_f16", "e", 2)]:
        x = stored(fmt, uniform(seed, ROWS * COLS, -4.0, 4.0))
        files[f"{name}_x"] = npy(fmt, (ROWS, COLS), x)
        files[f"{name}_y"] = npy(fmt, (ROWS, COLS), flatten(softmax(rows(x))))
        if fmt == "f":
            files["rowmax_y"] = npy(fmt, (ROWS,), [max(row) for row in rows(x)])
    x = stored("f", uniform(3, ROWS * COLS, -4.0, 4.0))
    files["rmsnorm_x"] = npy("f", (ROWS, COLS), x)
    files["rmsnorm_y"] = npy("f", (ROWS, COLS), flatten(rmsnorm(rows(x), 2.0**-17)))
    online(files)
    return files


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    DATA.mkdir(exist_ok=True)
    for name, content in sorted(all_files().items()):
        path = DATA / f"{name}.npy"
        if not check:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            stale.append(path.name)
    if stale:
        sys.exit("not as make_data.py writes them: " + ", ".join(stale))


if __name__ == "__main__":
    main()
