use super::*;

fn fault(text: &str) -> (String, (usize, usize)) {
    let file = SourceFile::new("p.json", text);
    let d = read(&file).err().unwrap();
    (d.message, file.line_col(d.labels[0].span.start as usize))
}

#[test]
fn faults_have_places() {
    assert_eq!(
        fault("{\"program\": [\n  {\"type\": \"loop\"}]}"),
        ("a loop needs `iters`".into(), (2, 3))
    );
    let (m, at) = fault("{\"program\": [{\"type\": \"loop\",\n \"iters\": \"N\", \"body\": []}]}");
    assert_eq!((m.as_str(), at), ("no parameter `N`", (2, 11)));
    let (m, at) = fault("{\"program\": [\n1 2]}");
    assert_eq!((m.as_str(), at), ("expected `,` or `]`", (2, 3)));
    assert_eq!(fault("{\"program\": [").0, "the file ends in the middle of a value");
    let (m, _) = fault("{\"dtype\": \"fp64\", \"program\": []}");
    assert_eq!(m, "unknown element type `fp64`");
    let (m, _) = fault(r#"{"program": [{"type": "loop", "iters": 10, "unroll": 3, "body": []}]}"#);
    assert_eq!(m, "10 iterations do not divide by an unroll of 3");
    let (m, _) = fault(r#"{"program": [{"type": "inst", "op": "MEM_BAR"}]}"#);
    assert_eq!(m, "`MEM_BAR` needs a `mode`");
    assert!(fault(&"[".repeat(100_000)).0.contains("nested"));
}

#[test]
fn long_loops_get_a_note() {
    let text = |n: u32| format!(r#"{{"program": [{{"type": "loop", "iters": {n}, "body": []}}]}}"#);
    let notes = |n| read(&SourceFile::new("p.json", text(n))).unwrap().notes.len();
    assert_eq!((notes(65535), notes(65536)), (0, 1));
}

#[test]
fn unrolled_lanes_have_registers_of_their_own() {
    let text = r#"{"dtype": "fp32", "program": [{"type": "loop", "iters": 4, "unroll": 2, "body": [
        {"type": "inst", "op": "VLDS", "dst": ["v0"], "src": ["memA"]},
        {"type": "inst", "op": "VADD", "dst": ["v1"], "src": ["v0", "vc"]}]}]}"#;
    let p = read(&SourceFile::new("p.json", text)).unwrap().program;
    assert_eq!((p.insts.len(), p.dynamic()), (4, Some(8)));
    assert_ne!(p.insts[0].dst, p.insts[1].dst);
    assert_eq!(p.insts[2].src[0], p.insts[0].dst[0]);
    assert_eq!(p.insts[2].src[1], p.insts[3].src[1], "a value from outside is shared");
    let at = |i: usize| p.insts[i].access.clone().unwrap();
    assert_eq!((at(1).base - at(0).base, at(0).deltas[0]), (256, 512));
}
