#!/usr/bin/env python3
"""Draws the pictures of docs/traces.md from trace files of the examples: lanes of a trace.json and
rows of a pipeline.kanata, roughly as their viewers show them.

    draw.py lanes TRACE.JSON FROM TO OUT.SVG "TITLE"
    draw.py rows PIPELINE.KANATA FIRST COUNT OUT.SVG "TITLE"
"""
import html
import json
import sys

WIDTH, LEFT = 900, 110
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#edc948", "#9c755f"]
FIXED = {"WAIT_FLAG": "#bbbbbb", "SET_FLAG": "#333333", "BAR": "#888888"}


def colour(name, known):
    return FIXED.get(name) or known.setdefault(name, COLOURS[len(known) % len(COLOURS)])


def page(body, height, title, out):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">'
    back = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    text = f'<text x="6" y="15" font-weight="bold">{html.escape(title)}</text>'
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join([head, back, text, *body, "</svg>", ""]))


def ruler(body, first, last, height):
    scale = (WIDTH - LEFT - 10) / (last - first)
    for k in range(11):
        cycle = first + (last - first) * k // 10
        x = LEFT + (cycle - first) * scale
        body.append(f'<line x1="{x:.1f}" y1="36" x2="{x:.1f}" y2="{height - 4}" stroke="#e4e4e4"/>')
        body.append(f'<text x="{x:.1f}" y="32" text-anchor="middle" fill="#555">{cycle}</text>')
    return scale


def box(body, x, y, w, h, fill, label):
    body.append(f'<rect x="{x:.1f}" y="{y}" width="{max(w, 0.6):.1f}" height="{h}" fill="{fill}"/>')
    if len(label) * 6.2 < w:
        body.append(f'<text x="{x + 3:.1f}" y="{y + h - 3}" fill="#fff" font-size="10">{html.escape(label)}</text>')


def lanes(path, first, last, out, title):
    events = json.load(open(path, encoding="utf-8"))["traceEvents"]
    order = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    slices, opened, arrows = [], {}, {}
    mhz = None
    for e in events:
        if e["ph"] == "X" and mhz is None and int(e["args"]["cycle_end"]) > 0:
            mhz = int(e["args"]["cycle_end"]) / (e["ts"] + e["dur"])
    for e in events:
        if e["ph"] == "X":
            slices.append((e["tid"], e["name"], int(e["args"]["cycle_start"]), int(e["args"]["cycle_end"])))
        elif e["ph"] == "B":
            opened[e["id"]] = e
        elif e["ph"] == "E":
            b = opened[e["id"]]
            slices.append((b["tid"], b["name"], int(b["args"]["cycle_start"]), int(b["args"]["cycle_end"])))
        elif e["ph"] in "st":
            arrows.setdefault(e["id"], {})[e["ph"]] = (e["tid"], e["ts"] * mhz)
    slices = [s for s in slices if s[2] < last and s[3] > first]
    used = sorted({s[0] for s in slices}, key=lambda t: (order.get(t, 99), len(t), t))
    row = {t: 42 + 18 * n for n, t in enumerate(used)}
    height, body, known = 42 + 18 * len(used) + 6, [], {}
    scale = ruler(body, first, last, height)
    at = lambda cycle: LEFT + (min(max(cycle, first), last) - first) * scale
    for t, y in row.items():
        body.append(f'<text x="6" y="{y + 12}">{html.escape(t)}</text>')
    for t, name, a, b in slices:
        box(body, at(a), row[t], at(b) - at(a), 15, colour(name, known), name)
    for pair in arrows.values():
        if len(pair) == 2 and all(t in row and first <= c <= last for t, c in pair.values()):
            (ta, ca), (tb, cb) = pair["s"], pair["t"]
            body.append(f'<line x1="{at(ca):.1f}" y1="{row[ta] + 8}" x2="{at(cb):.1f}" y2="{row[tb] + 8}" stroke="#d00" stroke-width="1.4"/>')
    page(body, height, title, out)


def rows(path, start, count, out, title):
    cycle, names, marks, arrows = 0, {}, {}, []
    for line in open(path, encoding="utf-8"):
        f = line.rstrip("\n").split("\t")
        if f[0] == "C":
            cycle += int(f[1])
        elif f[0] == "L" and f[2] == "0":
            names[int(f[1])] = f[3].strip()
        elif f[0] in "SE" and len(f) == 4:
            marks.setdefault(int(f[1]), []).append((cycle, f[0], int(f[2]), f[3]))
        elif f[0] == "R":
            marks.setdefault(int(f[1]), []).append((cycle, "R", 0, ""))
        elif f[0] == "W":
            arrows.append((int(f[2]), int(f[1])))
    ids = [i for i in sorted(names) if i >= start][:count]
    spans = {}
    for i in ids:
        held, spans[i] = {}, []
        for at, kind, lane, name in marks[i]:
            for l in [lane] if kind != "R" else list(held):
                if l in held:
                    spans[i].append((l, *held.pop(l), at))
            if kind == "S":
                held[lane] = (name, at)
    first = min(s[2] for i in ids for s in spans[i])
    last = max(s[3] for i in ids for s in spans[i])
    height, body, known = 42 + 17 * len(ids) + 6, [], {}
    left = 300
    global LEFT
    LEFT = left
    scale = ruler(body, first, last, height)
    row = {i: 42 + 17 * n for n, i in enumerate(ids)}
    end = {}
    for i in ids:
        body.append(f'<text x="6" y="{row[i] + 11}" font-size="10">{html.escape(names[i][:48])}</text>')
        for lane, name, a, b in spans[i]:
            x, w = LEFT + (a - first) * scale, (b - a) * scale
            if lane == 0:
                box(body, x, row[i], w, 10, colour(name, known), name)
                end[i] = (LEFT + (a - first) * scale, x + w)
            else:
                body.append(f'<rect x="{x:.1f}" y="{row[i] + 11}" width="{w:.1f}" height="3" fill="#e15759"/>')
    for a, b in arrows:
        if a in end and b in end:
            body.append(f'<line x1="{end[a][1]:.1f}" y1="{row[a] + 5}" x2="{end[b][0]:.1f}" y2="{row[b] + 5}" stroke="#d00" stroke-width="0.8" opacity="0.6"/>')
    page(body, height, title, out)


if __name__ == "__main__":
    what, path, a, b, out, title = sys.argv[1:]
    {"lanes": lanes, "rows": rows}[what](path, int(a), int(b), out, title)
