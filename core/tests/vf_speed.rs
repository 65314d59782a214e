//! Host speed: `cargo test --release -p ptoemu-core --test vf_speed -- --ignored --nocapture`.

mod vf_support;

use ptoemu_core::time::vf::*;
use std::time::Instant;
use vf_support::*;

/// Simulated instructions a second on one core, the best of three runs.
fn rate(p: &VfProgram) -> f64 {
    let t = target("950pr");
    let once = |_| {
        let start = Instant::now();
        let r = time(p, &t, plain()).unwrap();
        r.simulated as f64 / start.elapsed().as_secs_f64()
    };
    (0..3).map(once).fold(0.0, f64::max)
}

fn chain(b: &mut Build, n: u16) -> Vec<Node> {
    let mut body = vec![b.load(0)];
    body.extend((0..n).map(|_| b.op("vadds", 0, &[0])));
    body.push(b.store(0));
    body
}

#[test]
#[ignore = "measures the host"]
fn plain_simulation_keeps_its_pace() {
    let mut programs = Vec::new();
    for (name, op, loads) in [("vadd", "vadd", 2), ("vexp", "vexp", 1)] {
        let mut b = Build::f32();
        let inner = body(&mut b, op, loads);
        programs.push((name, b.done(vec![Node::repeat(1000, vec![Node::repeat(200, inner)])])));
    }
    let mut b = Build::f32();
    let inner = chain(&mut b, 16);
    programs.push(("chain of 16", b.done(vec![Node::repeat(60_000, inner)])));
    let mut b = Build::f32();
    let mut inner = body(&mut b, "vmul", 2);
    for (i, k) in [0usize, 1, 3].into_iter().enumerate() {
        let access = Access::contiguous(UB, i as i64 * 65536, &[0, 256], 256);
        inner[k] = b.at(inner[k].clone(), access);
    }
    programs.push((
        "vmul at addresses",
        b.done(vec![Node::repeat(1000, vec![Node::repeat(200, inner)])]),
    ));
    for (name, p) in programs {
        let r = rate(&p);
        println!("{name:20} {:6.2} million instructions a second", r / 1e6);
        assert!(r > 2e6, "{name}: {r}");
    }
}

#[test]
#[ignore = "measures the host"]
fn ten_million_iterations_take_milliseconds() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    let nest = Node::repeat(10, vec![Node::repeat(1000, vec![Node::repeat(1000, inner)])]);
    let p = b.done(vec![nest]);
    let t = target("950pr");
    let start = Instant::now();
    let r = time(&p, &t, Options::default()).unwrap();
    let ms = start.elapsed().as_secs_f64() * 1e3;
    println!("{} instructions, {} simulated, {ms:.1} ms", r.instructions, r.simulated);
    assert!(ms < 100.0, "{ms}");
}
