"""Reads every run.pftrace of a folder with Perfetto's own protobuf definitions and checks what its
viewer relies on: declared tracks, slices that begin, end and nest in order, flows with two ends,
and slices of each pipe that add up to its busy time in PipeUtilization.csv.

    python pftrace.py FOLDER
"""

import collections
import csv
import pathlib
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

# Column of PipeUtilization.csv of each pipe's busy share.
PIPES = {"VECTOR": "aiv_vec_ratio", "MTE2": "aiv_mte2_ratio", "MTE3": "aiv_mte3_ratio"}


def check(path):
    trace = pb.Trace()
    trace.ParseFromString(path.read_bytes())
    names, interned = {}, {}
    open_slices = collections.defaultdict(list)
    busy, flows, slices = collections.Counter(), collections.Counter(), 0
    last = collections.defaultdict(int)
    for packet in trace.packet:
        for name in packet.interned_data.event_names:
            interned[packet.trusted_packet_sequence_id, name.iid] = name.name
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            names[d.uuid] = d.name or d.thread.thread_name or d.process.process_name
            continue
        if not packet.HasField("track_event"):
            continue
        e, at = packet.track_event, packet.timestamp
        assert e.track_uuid in names, f"{path}: track {e.track_uuid} is not declared"
        for flow in list(e.flow_ids) + list(e.terminating_flow_ids):
            flows[flow] += 1
        if e.type == e.TYPE_SLICE_BEGIN:
            name = e.name or interned.get((packet.trusted_packet_sequence_id, e.name_iid), "")
            assert name, f"{path}: a slice without a name"
            assert at >= last[e.track_uuid], f"{path}: {name} begins before the slice before it"
            open_slices[e.track_uuid].append((name, at))
            slices += 1
        elif e.type == e.TYPE_SLICE_END:
            assert open_slices[e.track_uuid], f"{path}: an end without a begin"
            name, begin = open_slices[e.track_uuid].pop()
            assert begin <= at, f"{path}: {name} ends before it begins"
            last[e.track_uuid] = at
            if name not in ("BAR", "SET_FLAG", "WAIT_FLAG") and not open_slices[e.track_uuid]:
                busy[names[e.track_uuid]] += at - begin
    assert slices > 0, f"{path}: no slice"
    left = {names[t]: s for t, s in open_slices.items() if s}
    assert not left, f"{path}: never ended: {left}"
    odd = [f for f, n in flows.items() if n < 2]
    assert not odd, f"{path}: flows with one end: {odd[:5]}"
    sums(path, busy)
    print(f"{path}: {len(trace.packet)} packets, {slices} slices, {len(flows)} flows")


def sums(path, busy):
    table = path.parent / "PipeUtilization.csv"
    if not table.exists():
        return
    with table.open() as f:
        rows = list(csv.DictReader(f))
    for pipe, column in PIPES.items():
        cycles = sum(float(r[column]) * int(r["aiv_total_cycles"]) for r in rows)
        shown = sum(n for name, n in busy.items() if name.split(" ")[0] == pipe)
        assert abs(shown - cycles) < 1, f"{path}: {pipe} shows {shown} cycles, its table {cycles}"


def main():
    traces = sorted(pathlib.Path(sys.argv[1]).rglob("*.pftrace"))
    assert traces, "no trace"
    for path in traces:
        check(path)


main()
