//! Protocol buffers, written: as much of the encoding as the trace needs.

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct Message(pub Vec<u8>);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

impl Message {
    fn varint(&mut self, mut v: u64) {
        while v >= 0x80 {
            self.0.push(v as u8 | 0x80);
            v >>= 7;
        }
        self.0.push(v as u8);
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    /// An unsigned number, an enumeration.
    pub fn number(&mut self, field: u32, v: u64) {
        self.key(field, VARINT);
        self.varint(v);
    }

    /// A number of eight bytes.
    pub fn fixed(&mut self, field: u32, v: u64) {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&v.to_le_bytes());
    }

    /// A floating-point number.
    pub fn double(&mut self, field: u32, v: f64) {
        self.fixed(field, v.to_bits());
    }

    /// Text or bytes.
    pub fn bytes(&mut self, field: u32, v: &[u8]) {
        self.key(field, BYTES);
        self.varint(v.len() as u64);
        self.0.extend_from_slice(v);
    }

    /// A message inside this one; what it holds is moved behind its length.
    pub fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) {
        self.key(field, BYTES);
        let at = self.0.len();
        fill(self);
        let mut n = self.0.len() - at;
        let mut length = [0u8; 10];
        let mut digits = 0;
        while n >= 0x80 {
            length[digits] = n as u8 | 0x80;
            (n, digits) = (n >> 7, digits + 1);
        }
        length[digits] = n as u8;
        self.0.splice(at..at, length[..=digits].iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_bytes() {
        let mut m = Message::default();
        m.number(1, 150);
        assert_eq!(m.0, [0x08, 0x96, 0x01]);
        m.0.clear();
        m.bytes(2, b"ab");
        m.message(3, |m| m.message(4, |m| m.bytes(5, &[7; 130])));
        assert_eq!(m.0[..4], [0x12, 2, b'a', b'b']);
        assert_eq!(m.0[4..7], [0x1a, 0x88, 0x01]);
        assert_eq!(m.0[7..10], [0x22, 0x85, 0x01]);
        assert_eq!(m.0[10..13], [0x2a, 0x82, 0x01]);
        assert_eq!(m.0.len(), 143);
    }
}
