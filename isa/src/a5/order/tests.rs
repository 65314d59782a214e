use super::*;

fn range(a: u64, b: u64) -> Blocks {
    let mut out = Blocks::new();
    blocks(a, b - a, &mut out);
    out
}

fn access(o: &mut Order, class: Class, a: u64, b: u64, used: bool) -> u32 {
    let n = o.next((0, "x"));
    o.enter_bytes(n, class, &range(a, b), used, 0);
    n
}

#[test]
fn bytes_by_block() {
    assert_eq!(range(30, 70).as_slice(), [(0, 3 << 30), (1, u32::MAX), (2, 0x3F)]);
    assert!(range(5, 5).is_empty());
}

#[test]
fn only_used_bytes_of_a_load_count() {
    let mut o = Order::default();
    o.enter();
    let store = access(&mut o, Class::Vst, 64, 96, true);
    let load = access(&mut o, Class::Vld, 0, 256, false);
    assert!(o.take().is_empty());
    o.used(load, &range(0, 64));
    assert!(o.take().is_empty());
    o.used(load, &range(80, 100));
    let want = Pair { first: (store, Class::Vst), second: (load, Class::Vld), bytes: (80, 96) };
    assert_eq!(o.take().as_slice(), [want]);
    o.used(load, &range(80, 100));
    assert!(o.take().is_empty(), "once");
}

#[test]
fn uses_behind_the_store_count_too() {
    let mut o = Order::default();
    o.enter();
    let load = access(&mut o, Class::Vld, 0, 256, false);
    let store = access(&mut o, Class::Vst, 0, 32, true);
    assert!(o.take().is_empty());
    o.used(load, &range(0, 4));
    assert_eq!(
        o.take().as_slice(),
        [Pair { first: (load, Class::Vld), second: (store, Class::Vst), bytes: (0, 4) }]
    );
}

#[test]
fn barriers_by_kind() {
    use Class::*;
    let found = |bar: Option<&str>, first, second| {
        let mut o = Order::default();
        o.enter();
        access(&mut o, first, 0, 4, true);
        if let Some(b) = bar.and_then(Barrier::parse) {
            o.bar(b);
        }
        access(&mut o, second, 0, 4, true);
        !o.take().is_empty()
    };
    let pairs = [
        (Vst, Vld, "VST_VLD"),
        (Vld, Vst, "VLD_VST"),
        (Vst, Vst, "VST_VST"),
        (St, Vld, "ST_VLD"),
        (Ld, Vst, "LD_VST"),
        (St, Vst, "ST_VST"),
        (Vst, Ld, "VST_LD"),
        (Vld, St, "VLD_ST"),
        (Vst, St, "VST_ST"),
    ];
    for (first, second, needed) in pairs {
        assert!(found(None, first, second), "{needed}");
        for name in Barrier::NAMES {
            let all = match first.scalar() {
                true => "SV_ALL",
                false if second.scalar() => "VS_ALL",
                false => "VV_ALL",
            };
            let orders = [needed, all, "VV_ALL"].contains(name);
            assert_eq!(found(Some(name), first, second), !orders, "{needed} by {name}");
        }
    }
    for (first, second) in [(Vld, Vld), (Ld, St), (St, Ld), (Ld, Vld), (Vld, Ld)] {
        assert!(!found(None, first, second), "{first:?} {second:?}");
    }
}

#[test]
fn order_is_passed_on() {
    use Class::*;
    let mut o = Order::default();
    o.enter();
    access(&mut o, Vst, 0, 32, true);
    o.bar(Barrier::StoreLoad);
    let load = access(&mut o, Vld, 64, 96, true);
    // A store of the loaded value comes after the load, and so after the store before it.
    let n = o.next((0, "x"));
    o.enter_bytes(n, Vst, &range(0, 32), true, bit(load));
    assert!(o.take().is_empty());
    // What the store was computed from is done where the store is.
    o.bar(Barrier::StoreLoad);
    let next = access(&mut o, Vld, 128, 160, true);
    let n = o.next((0, "x"));
    o.enter_bytes(n, Vst, &range(64, 96), true, bit(next));
    assert!(o.take().is_empty());
    access(&mut o, Vst, 128, 160, true);
    assert_eq!(o.take().len(), 1);
}

#[test]
fn scopes_follow_each_other_in_order() {
    let mut o = Order::default();
    o.enter();
    access(&mut o, Class::Vst, 0, 32, true);
    o.leave();
    o.enter();
    let load = access(&mut o, Class::Vld, 0, 32, true);
    assert!(o.take().is_empty());
    assert_eq!(o.place(load), (0, "x"));
}
