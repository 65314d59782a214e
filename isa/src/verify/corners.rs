//! Which uses are tried: sizes at every boundary combined with every setting, small ones first, and
//! between them drawn ones. The n-th use of a unit depends on the seed and on n alone.

use super::contents::KINDS;
use super::domain::Domain;
use super::spec::Spec;
use super::unit::{Form, Unit};
use crate::a5::Cmp;
use crate::tile::{Family, Operator, Quirks, Tmp};
use ptoemu_core::num::SplitMix64;

/// Bytes of UB the tiles of one use may take: below the scratch window of A2/A3.
const BUDGET: u64 = 180 * 1024;
/// The same on the 950: what lies above may be reserved.
const BUDGET_950: u64 = 248 * 1024;
/// Most bytes of one tile of a small use, and of a middling one.
const SMALL: u64 = 2048;
const MIDDLE: u64 = 20 * 1024;
/// Bytes of a tile whose operation runs element by element on the host.
const SLOW: u64 = 256;
/// Rows around the repeat field, the round of 240 and its remainders, and 8-row broadcasts.
const ROWS: [u32; 49] = [
    1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 200,
    239, 240, 241, 247, 248, 249, 254, 255, 256, 257, 258, 300, 470, 471, 472, 473, 477, 479, 480,
    481, 510, 511, 512, 513, 600,
];
/// Columns of about 255 groups to sort, the most of one instruction, and of twice as many.
const GROUPS: [u32; 4] = [254 * 32, 255 * 32, 256 * 32, 510 * 32];
/// Static shapes row reductions treat on their own [D: PTO TRowReduce].
const FAST: [(u32, u32); 4] = [(64, 128), (32, 256), (16, 512), (8, 1024)];

/// The uses of a unit.
#[derive(Clone, Debug)]
pub struct Uses {
    unit: Unit,
    domain: Domain,
    /// Sizes at boundaries: small, middling, large.
    sizes: [Vec<(u32, u32)>; 3],
    limits: [u64; 3],
    key: u64,
}

impl Uses {
    /// The uses of a unit under a seed.
    pub fn new(unit: Unit, seed: u64) -> Uses {
        Uses::within(unit, seed, Domain::default())
    }

    /// The uses of a unit in a domain.
    pub fn within(unit: Unit, seed: u64, domain: Domain) -> Uses {
        let mut sizes: Vec<(u32, u32)> =
            ROWS.iter().flat_map(|r| columns(&unit).into_iter().map(|c| (*r, c))).collect();
        sizes.extend(FAST);
        let limits = if unit.slow() { [SLOW; 3] } else { [SMALL, MIDDLE, BUDGET / 3] };
        sizes.retain(|s| bytes(&unit, *s) <= limits[2]);
        sizes.sort_by_key(|s| (bytes(&unit, *s), *s));
        sizes.dedup();
        let above = |sizes: &mut Vec<(u32, u32)>, limit| {
            let cut = sizes.partition_point(|s| bytes(&unit, *s) <= limit);
            sizes.split_off(cut)
        };
        let mut middle = above(&mut sizes, limits[0]);
        let large = above(&mut middle, limits[1]);
        let name = unit.op.name.bytes().chain([unit.from as u8, unit.to as u8]);
        let key = name.fold(seed, |k, b| SplitMix64::new(k ^ u64::from(b)).next_u64());
        Uses { unit, domain, sizes: [sizes, middle, large], limits, key }
    }

    /// The unit.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Use number `n`.
    pub fn nth(&self, n: u64) -> Spec {
        let (round, turn) = (n / 32, n % 32);
        let mut stream = SplitMix64::tensor(self.key, n);
        let drawn = stream.next_u64();
        let corner = |tier: usize, i: u64| {
            let sizes = self.sizes.get(tier).filter(|s| !s.is_empty()).unwrap_or(&self.sizes[0]);
            let n = sizes.len().max(1) as u64;
            // A step of about the golden section: few uses already reach from end to end.
            let step = (n * 5 / 8..).find(|s| coprime(*s, n)).unwrap_or(1);
            let at = (i.wrapping_mul(step) % n) as usize;
            // Another mix of settings each time a size comes round.
            let variant = SplitMix64::tensor(i / n, at as u64).next_u64();
            (sizes.get(at).copied().unwrap_or((1, 1)), Digits(variant))
        };
        // Of 32 uses two are large and five middling; half of each are drawn.
        let (size, mut digits) = match turn {
            0..=12 => corner(0, round * 13 + turn),
            13..=15 => corner(1, round * 3 + turn - 13),
            16 => self.groups(round).unwrap_or_else(|| corner(2, round)),
            17..=28 => (self.draw(&mut stream, self.limits[0]), Digits(drawn)),
            29..=30 => (self.draw(&mut stream, self.limits[1]), Digits(drawn)),
            _ => (self.draw(&mut stream, self.limits[2]), Digits(drawn)),
        };
        let mut spec = settings(&self.unit, &mut digits);
        (spec.rows, spec.cols) = size;
        if self.unit.form == Form::RowExpandBin && drawn % 16 == 7 {
            // As wide as the expanded operand: both are full.
            spec.cols = if spec.blocks { 32 / self.unit.from.size() as u32 } else { 1 };
        }
        spec.seed = stream.next_u64() as u32 % 1_000_000;
        let mut draws = Digits(stream.next_u64());
        spec.dist = draws.take(KINDS.into()) as u8;
        spec.shift = std::array::from_fn(|_| draws.take(16) as u8);
        self.fit(self.domain.keep(&self.unit, spec))
    }

    /// Now and then as many columns as one instruction sorts, or about twice as many.
    fn groups(&self, round: u64) -> Option<((u32, u32), Digits)> {
        let turn = round % 4 == 1 && self.unit.op.operator == Operator::Sort;
        let cols = GROUPS[(round / 4 % GROUPS.len() as u64) as usize];
        (turn && bytes(&self.unit, (1, cols)) <= self.limits[2]).then_some(((1, cols), Digits(0)))
    }

    /// A size below a limit: near a boundary, or any.
    fn draw(&self, stream: &mut SplitMix64, limit: u64) -> (u32, u32) {
        let mut d = Digits(stream.next_u64());
        let edges = columns(&self.unit);
        let cols = match d.take(3) {
            0 => edges[d.take(edges.len() as u64) as usize],
            1 => 1 + d.take(40) as u32,
            _ => 1 + d.take(u64::from(4 * self.unit.repeat() + 8)) as u32,
        };
        let rows = match d.take(3) {
            0 => ROWS[d.take(ROWS.len() as u64) as usize],
            1 => 1 + d.take(20) as u32,
            _ => 1 + d.take(600) as u32,
        };
        let mut size = (rows, cols);
        while bytes(&self.unit, size) > limit && size.0 > 1 {
            size.0 /= 2;
        }
        while bytes(&self.unit, size) > limit && size.1 > 1 {
            size.1 /= 2;
        }
        size
    }

    /// Fewer rows until the tiles fit.
    fn fit(&self, mut spec: Spec) -> Spec {
        let budget = if self.unit.family == Family::A5 { BUDGET_950 } else { BUDGET };
        loop {
            let call = spec.call(&self.unit, Quirks::corrected());
            let end = call.tiles().map(|(_, t)| t.end()).max().unwrap_or(0);
            if end <= budget || spec.rows <= 1 && spec.slack == [0; 4] {
                return spec.relevant(&self.unit);
            }
            if spec.rows > 1 {
                spec.rows = spec.rows.div_ceil(2);
            } else {
                spec.slack = [0; 4];
            }
        }
    }
}

fn coprime(mut a: u64, mut b: u64) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// Bytes of a row-major tile of a size.
fn bytes(u: &Unit, (rows, cols): (u32, u32)) -> u64 {
    let size = u.from.size().max(u.to.size()) as u64;
    u64::from(rows) * u64::from(cols.next_multiple_of(u.block())) * size
}

/// Columns around block, repeat and several repeats.
fn columns(u: &Unit) -> Vec<u32> {
    let (b, e) = (u.block(), u.repeat());
    let mut out = vec![1, 2, 3, e / 2 - 1, e / 2, e / 2 + 1, e - b, e + b, 2 * e - b, 2 * e + b];
    for n in [b, 2 * b, 3 * b, e, 2 * e, 3 * e, 4 * e, 5 * e, 6 * e] {
        out.extend([n - 1, n, n + 1]);
    }
    out.extend([7 * e, 8 * e, 8 * e + 1, 9 * e - 1, 16 * e]);
    out.sort_unstable();
    out.dedup();
    out
}

/// Digits of mixed radix, the least significant first.
struct Digits(u64);

impl Digits {
    fn take(&mut self, n: u64) -> u64 {
        let digit = self.0 % n.max(1);
        self.0 /= n.max(1);
        digit
    }

    fn flag(&mut self) -> bool {
        self.take(2) == 1
    }
}

/// Blocks of slack of dst, sources and tmp; the last ones make strides overflow their field.
const SLACK: [[u16; 4]; 9] = [
    [0, 0, 0, 0],
    [1, 1, 1, 1],
    [0, 1, 2, 8],
    [2, 0, 1, 3],
    [8, 0, 0, 0],
    [0, 8, 1, 0],
    [0, 256, 0, 1],
    [256, 0, 256, 0],
    [253, 254, 255, 256],
];

/// Every setting but sizes and contents.
fn settings(u: &Unit, d: &mut Digits) -> Spec {
    let mut s = Spec { dynamic: [d.flag(), false], ..Spec::default() };
    s.dynamic[1] = s.dynamic[0] != (d.take(4) == 3);
    s.turned = d.flag();
    s.blocks = d.flag();
    s.tmp = d.take(4) as u8;
    s.swapped = d.flag();
    s.slack = SLACK[d.take(SLACK.len() as u64) as usize];
    s.in_place = [0, 0, 1, 2, 3][d.take(5) as usize];
    s.variant = d.flag();
    s.round = d.take(7) as u8;
    s.sat = d.take(3) as u8;
    s.order = d.flag();
    s.below = [0, 0, 1, 7][d.take(4) as usize];
    s.columns = [0, 0, 0, 1, 7][d.take(5) as usize];
    s.flat = d.take(4) == 3;
    s.relevant(u)
}

impl Spec {
    /// The same use with every setting that does not matter to the unit at its default, so that
    /// equal uses are equal.
    pub fn relevant(self, u: &Unit) -> Spec {
        let mut s = self;
        let expands = u.form == Form::RowExpandBin;
        let ordered = matches!(u.op.operator, Operator::Sub | Operator::Div | Operator::ExpDif);
        s.blocks &= expands;
        s.swapped &= expands || u.repeats_row() || u.partly();
        s.order &= expands && s.swapped && ordered;
        s.flat &= matches!(u.form, Form::RowExpand | Form::ColExpand);
        let turns = matches!(u.form, Form::Elementwise | Form::RowReduce | Form::RowExpand);
        s.turned &= turns && u.turns;
        let columns = expands && !s.blocks;
        if !columns && !u.odd() {
            s.columns = 0;
        }
        match u.op.sig.tmp {
            Tmp::None => s.tmp = 0,
            Tmp::Optional if expands && s.blocks => s.tmp = 0,
            _ => {}
        }
        s.in_place &= match (u.form, u.op.sig.srcs) {
            (Form::RowExpandBin, _) | (Form::ColExpand, 2) | (Form::Elementwise, 1) => 1,
            (Form::Elementwise, 2) => 3,
            _ => 0,
        };
        if u.from != u.to {
            s.in_place = 0;
        }
        let converts = u.op.name == "tcvt" && u.from != u.to;
        if !converts {
            s.sat = 0;
        }
        s.round = match u.op.operator {
            _ if converts => s.round,
            Operator::Compare => s.round % Cmp::ALL.len() as u8,
            _ if u.partly() => s.round % 4,
            _ if u.odd() => s.round,
            // Rarely fewer rows than the source has: shipped code fills UB then.
            _ if u.pads() => s.round % 7 / 3 * 3,
            _ => 0,
        };
        s.swapped &= !u.partly() || s.round > 0;
        s.variant &= u.op.sig.scalar && u.op.operator == Operator::Div
            || u.form == Form::ColReduce && s.tmp > 0
            || matches!(u.op.operator, Operator::Iota | Operator::Tri)
            || u.family == Family::A5;
        s.seed = s.seed.max(1);
        let srcs = u.op.sig.srcs;
        if srcs < 2 {
            (s.slack[2], s.shift[2]) = (0, 0);
        }
        if srcs < 1 {
            (s.slack[1], s.shift[1]) = (0, 0);
        }
        if u.op.sig.tmp == Tmp::None {
            (s.slack[3], s.shift[3]) = (0, 0);
        }
        s
    }

    /// What makes two uses different: everything but the seed of the contents.
    pub fn identity(self) -> Spec {
        Spec { seed: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::find;
    use std::collections::HashSet;

    #[test]
    fn uses_are_reproducible_and_hardly_repeat() {
        let unit = Unit::all(Family::A2A3, find("trowmax").unwrap())[0];
        let uses = Uses::new(unit, 1);
        let specs: Vec<Spec> = (0..2000).map(|n| uses.nth(n)).collect();
        assert_eq!(specs, (0..2000).map(|n| uses.nth(n)).collect::<Vec<_>>());
        let distinct: HashSet<Spec> = specs.iter().map(|s| s.identity()).collect();
        assert!(distinct.len() > 1900, "{}", distinct.len());
    }

    #[test]
    fn boundaries_are_among_the_first_uses() {
        let unit = Unit::all(Family::A2A3, find("trowexpandmax").unwrap())
            .into_iter()
            .find(|u| u.from.size() == 4)
            .unwrap();
        let uses = Uses::new(unit, 1);
        let seen: HashSet<(u32, u32)> =
            (0..20_000).map(|n| uses.nth(n)).map(|s| (s.rows, s.cols)).collect();
        for size in [(1, 1), (473, 1), (479, 8), (256, 1), (8, 65), (240, 9)] {
            assert!(seen.contains(&size), "{size:?}");
        }
    }
}
