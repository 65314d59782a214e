//! Double-double exp and ln for tests: about 100 significand bits, built from exact sums and
//! products only, so independent of the kernels' polynomials.

/// `hi + lo`, |lo| at most half an ulp of hi.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dd(pub f64, pub f64);

const LN2: Dd = Dd(std::f64::consts::LN_2, 2.3190468138462996e-17);

fn sum(a: f64, b: f64) -> Dd {
    let s = a + b;
    let v = s - a;
    Dd(s, (a - (s - v)) + (b - v))
}

fn product(a: f64, b: f64) -> Dd {
    let p = a * b;
    Dd(p, a.mul_add(b, -p))
}

impl Dd {
    pub(super) fn add(self, o: Dd) -> Dd {
        let s = sum(self.0, o.0);
        let t = sum(self.1, o.1);
        let u = sum(s.0, s.1 + t.0);
        sum(u.0, u.1 + t.1)
    }

    pub(super) fn mul(self, o: Dd) -> Dd {
        let p = product(self.0, o.0);
        sum(p.0, p.1 + (self.0 * o.1 + self.1 * o.0))
    }

    fn div_int(self, n: f64) -> Dd {
        let q = self.0 / n;
        let p = product(q, n);
        sum(q, ((self.0 - p.0) - p.1 + self.1) / n)
    }

    fn scale(self, by: f64) -> Dd {
        Dd(self.0 * by, self.1 * by)
    }
}

/// e^x for |x| < 700.
pub(super) fn exp(x: Dd) -> Dd {
    let k = (x.0 / LN2.0).round();
    let r = x.add(LN2.mul(Dd(-k, 0.0))).scale(1.0 / 256.0);
    // |r| < 0.0014: twelve terms reach 2^-140. Sum e^r - 1, then square eight times.
    let mut term = r;
    let mut less_one = r;
    for n in 2..13 {
        term = term.mul(r).div_int(n as f64);
        less_one = less_one.add(term);
    }
    for _ in 0..8 {
        less_one = less_one.scale(2.0).add(less_one.mul(less_one));
    }
    less_one.add(Dd(1.0, 0.0)).scale(2f64.powi(k as i32))
}

/// ln x for a positive normal x: one correction of the library's f64 value.
pub(super) fn ln(x: f64) -> Dd {
    let y = x.ln();
    let k = (y / LN2.0).round();
    // x e^-y - 1 is tiny, so ln(1 + d) = d - d^2 / 2.
    let (m, rest) = (x * 2f64.powi(-k as i32), Dd(-y, 0.0).add(LN2.mul(Dd(k, 0.0))));
    let d = exp(rest).mul(Dd(m, 0.0)).add(Dd(-1.0, 0.0));
    Dd(y, 0.0).add(d.add(d.mul(d).scale(-0.5)))
}
