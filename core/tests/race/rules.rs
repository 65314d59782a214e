//! One rule a test: the hazard and its repaired twin.

use super::build::{Step, access, hazards, hazards_of, span, stream};
use Pipe::{Mte2, Mte3, S, V};
use Role::{Read, Update, Write};
use Space::{Gm, Ub};
use Step::{Barrier, Set, Wait};
use ptoemu_core::access::{Lanes, Role, Space, Walk};
use ptoemu_core::diag::{Level, SourceFile};
use ptoemu_core::mask::Mask;
use ptoemu_core::stream::Pipe;

fn vector(op: u16, dst: u64, src: u64) -> Step {
    access(V, op, &[span(Ub, Write, dst, 256), span(Ub, Read, src, 256)])
}

fn load(dst: u64) -> Step {
    access(Mte2, 0, &[span(Ub, Write, dst, 256), span(Gm, Read, 0x1000, 256)])
}

fn store(src: u64) -> Step {
    access(Mte3, 0, &[span(Gm, Write, 0x8000, 256), span(Ub, Read, src, 256)])
}

fn codes(steps: &[Step]) -> Vec<&'static str> {
    hazards(steps).iter().map(|f| f.diag.code).collect()
}

/// `a` then `b` is a hazard of this code; the lines of `order` between them repair it.
fn pair(a: &Step, b: &Step, code: &str, order: &[Step]) {
    assert_eq!(codes(&[a.clone(), b.clone()]), [code]);
    let fixed: Vec<Step> = [a].into_iter().chain(order).chain([b]).cloned().collect();
    assert!(codes(&fixed).is_empty(), "{fixed:?}");
}

fn flag(a: Pipe, b: Pipe) -> [Step; 2] {
    [Set(a, b, 0), Wait(a, b, 0)]
}

#[test]
fn dependent_vector_instructions_need_a_barrier() {
    let bar = [Barrier(V)];
    pair(&vector(0, 0, 0x400), &vector(0, 0x800, 0), "racecheck.raw", &bar);
    pair(&vector(0, 0, 0x400), &vector(0, 0x800, 0xC0), "racecheck.raw", &[Barrier(Pipe::All)]);
    assert!(codes(&[vector(0, 0, 0x400), vector(0, 0x800, 0x100)]).is_empty(), "neighbours");
    // A barrier of another pipe, or one before both, orders nothing here.
    let (a, b) = (vector(0, 0, 0x400), vector(0, 0x800, 0));
    assert_eq!(codes(&[Barrier(V), a.clone(), Barrier(Mte2), b.clone()]), ["racecheck.raw"]);
}

#[test]
fn overwriting_depends_on_the_latency() {
    pair(&vector(1, 0, 0x400), &vector(0, 0, 0x800), "racecheck.waw", &[Barrier(V)]);
    let same = [vector(0, 0, 0x400), vector(0, 0, 0x800)];
    assert!(codes(&same).is_empty());
    let strict = hazards_of(&stream(&same), true);
    assert_eq!((strict[0].diag.code, strict[0].diag.level), ("racecheck.waw", Level::Warning));
}

#[test]
fn write_after_read_on_one_pipe_is_for_strict_eyes() {
    let steps = [vector(0, 0, 0x400), vector(1, 0x400, 0x800)];
    assert!(codes(&steps).is_empty());
    let strict = hazards_of(&stream(&steps), true);
    assert_eq!((strict[0].diag.code, strict[0].diag.level), ("racecheck.war", Level::Warning));
}

#[test]
fn transfers_and_vector_instructions_need_flags_both_ways() {
    pair(&load(0), &vector(0, 0x400, 0), "racecheck.raw", &flag(Mte2, V));
    pair(&vector(0, 0, 0x400), &store(0), "racecheck.raw", &flag(V, Mte3));
    pair(&vector(0, 0x800, 0), &load(0), "racecheck.war", &flag(V, Mte2));
    pair(&store(0), &vector(0, 0, 0x400), "racecheck.war", &flag(Mte3, V));
    pair(&store(0), &load(0), "racecheck.war", &flag(Mte3, Mte2));
    pair(&load(0), &vector(0, 0, 0x400), "racecheck.waw", &flag(Mte2, V));
}

#[test]
fn scalar_accesses_need_flags_both_ways() {
    let get = |at| access(S, 0, &[span(Ub, Read, at, 4)]);
    let put = |at| access(S, 0, &[span(Ub, Write, at, 4)]);
    pair(&vector(0, 0, 0x400), &get(64), "racecheck.raw", &flag(V, S));
    pair(&put(0x400), &vector(0, 0, 0x400), "racecheck.raw", &flag(S, V));
    pair(&get(64), &vector(0, 0, 0x400), "racecheck.war", &flag(S, V));
    pair(&put(64), &store(0), "racecheck.raw", &flag(S, Mte3));
    assert!(codes(&[put(64), get(64), put(64)]).is_empty(), "S is in order with itself");
}

#[test]
fn what_s_has_waited_for_is_complete_for_all() {
    let [set, wait] = flag(V, S);
    assert!(codes(&[vector(0, 0, 0x400), set, wait, vector(0, 0x800, 0)]).is_empty());
}

#[test]
fn transfers_of_one_pipe_need_its_barrier() {
    pair(&load(0), &load(128), "racecheck.waw", &[Barrier(Mte2)]);
    pair(&store(0), &store(0x400), "racecheck.waw", &[Barrier(Mte3)]);
    let add = |src| access(Mte3, 0, &[span(Gm, Update, 0x8000, 256), span(Ub, Read, src, 256)]);
    assert!(codes(&[add(0), add(0x400)]).is_empty(), "atomic additions commute");
    assert_eq!(codes(&[store(0), add(0x400)]), ["racecheck.raw"]);
}

#[test]
fn global_memory_is_no_exception() {
    let back = access(Mte2, 0, &[span(Ub, Write, 0x400, 256), span(Gm, Read, 0x80F0, 256)]);
    pair(&store(0), &back, "racecheck.raw", &flag(Mte3, Mte2));
    assert!(codes(&[store(0), load(0x400)]).is_empty(), "other bytes of GM");
}

#[test]
fn order_passes_through_other_pipes() {
    let mut steps = vec![load(0)];
    steps.extend(flag(Mte2, V));
    steps.push(vector(0, 0x400, 0x800));
    steps.extend(flag(V, Mte3));
    steps.push(store(0));
    assert!(codes(&steps).is_empty());
    // The set stands before what it should cover.
    let early = [Set(V, Mte3, 0), vector(0, 0, 0x400), Wait(V, Mte3, 0), store(0)];
    let found = hazards(&early);
    assert_eq!(found[0].diag.code, "racecheck.raw");
    assert!(found[0].diag.notes[2].contains("was set before the first"), "{found:?}");
}

#[test]
fn masks_and_strides_are_exact() {
    let lanes = |role, at, lanes| {
        let w = Walk { space: Ub, role, elem: 4, blocks: 8, unit: 32, blk: 32, rep: 512 };
        Step::Access { pipe: V, op: 0, operands: vec![(at, w)], lanes, repeats: 4 }
    };
    let even = Lanes::Norm(Mask::from_words([0x5555_5555_5555_5555, 0, 0, 0]));
    let odd = Lanes::Norm(Mask::from_words([0xAAAA_AAAA_AAAA_AAAA, 0, 0, 0]));
    let full = Lanes::Norm(Mask::first(64));
    assert!(codes(&[lanes(Write, 0, even), lanes(Read, 0, odd)]).is_empty());
    assert!(codes(&[lanes(Write, 0, full), lanes(Read, 256, full)]).is_empty(), "other rows");
    assert_eq!(codes(&[lanes(Write, 0, even), lanes(Read, 0, full)]), ["racecheck.raw"]);
    let short = Lanes::Count { total: 70, per_repeat: 64 };
    let found = hazards(&[lanes(Write, 0, short), lanes(Read, 512 + 20, full)]);
    assert_eq!(found[0].bytes, (512 + 20, 512 + 24));
}

#[test]
fn a_record_does_not_race_with_itself() {
    let own = access(V, 0, &[span(Ub, Update, 0, 256), span(Ub, Read, 0, 256)]);
    assert!(codes(&[own]).is_empty());
}

#[test]
fn registers_written_by_vector_instructions_need_order_too() {
    let (makes, uses) = (access(V, 3, &[]), access(V, 2, &[]));
    pair(&makes, &uses, "racecheck.raw", &[Barrier(V)]);
    let found = hazards(&[makes.clone(), uses.clone()]);
    assert!(found[0].diag.message.ends_with("in CMPMASK"));
    pair(&makes, &access(S, 2, &[]), "racecheck.raw", &flag(V, S));
    assert!(codes(&[makes.clone(), makes]).is_empty());
}

#[test]
fn one_missing_line_is_one_finding() {
    let steps = [load(0), load(0x400), vector(0, 0x800, 0), vector(1, 0xC00, 0x400), store(0xC00)];
    assert_eq!(codes(&steps), ["racecheck.raw", "racecheck.raw"]);
    let steps = [
        vector(0, 0, 0x1000),
        vector(0, 0x400, 0x1000),
        vector(1, 0x800, 0),
        vector(0, 0xC00, 0x400),
    ];
    assert_eq!(codes(&steps), ["racecheck.raw"]);
}

#[test]
fn a_finding_names_both_ends_and_the_line_to_insert() {
    let steps = [Set(V, Mte3, 0), vector(1, 0, 0x400), store(0x80), Wait(V, Mte3, 0)];
    let s = stream(&steps);
    let found = hazards_of(&s, false);
    let text = "one\ntwo";
    let shown = found[0].render(&s, &[SourceFile::new("k.pto", text)]);
    assert_eq!(shown.message, "Potential RAW hazard detected at core0 in UB");
    assert_eq!(shown.notes[0], "PIPE_V Write at UB 0x80..0x100 by slow.f32, record 1");
    assert_eq!(shown.notes[1], "PIPE_MTE3 Read at UB 0x80..0x100 by quick.f32, record 2");
    let lines = "pto.set_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID1\"] and \
                 pto.wait_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID1\"]";
    assert_eq!(shown.help.as_deref(), Some(format!("insert before line 1: {lines}").as_str()));
    assert_eq!(
        (shown.labels[0].text.as_str(), shown.labels[1].text.as_str()),
        ("PIPE_MTE3 Read", "PIPE_V Write")
    );
}

#[test]
fn a_flag_of_the_other_direction_is_pointed_out() {
    let steps = [vector(0, 0, 0x400), Set(Mte3, V, 0), Wait(Mte3, V, 0), store(0)];
    let found = hazards(&steps);
    assert!(found[0].diag.notes[2].contains("the other direction"), "{found:?}");
    let steps = [vector(0, 0, 0x400), Set(V, Mte3, 0), store(0), Wait(V, Mte3, 0)];
    assert!(hazards(&steps)[0].diag.notes[2].contains("nothing waits for it before"));
}
