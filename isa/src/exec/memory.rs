//! Statements that make or use addresses: views, tiles, pointers, scalar accesses.

use super::frame::{Frame, bits_of, get, kind, refuse_with, set, value_of};
use super::program::*;
use super::run::Exec;
use super::value::{Ptr, Value, View};
use crate::instr::Instr;
use crate::machine::Stop;
use crate::table::{self, What};
use crate::tile::{Layout, Tile};
use ptoemu_core::access::Space;
use ptoemu_core::similar::similar;
use ptoemu_core::stream::Pipe;
use std::sync::Arc;

type Done = Result<(), Stop>;

impl Exec<'_> {
    /// Everything that touches memory or the machine.
    pub(super) fn effect(&mut self, frame: &mut Frame, s: &Stmt) -> Done {
        self.at_statement(s.span);
        match &s.code {
            Code::Core(what, d) => {
                let v = [self.block_index, self.blocks, 0, 1][*what as usize % 4];
                set(frame, *d, Value::Int(i64::from(v)));
            }
            Code::CastPtr { .. } | Code::AddPtr(..) | Code::TileAddr(..) => {
                self.pointer(frame, &s.code)?
            }
            Code::Load(d, p, i, t) => {
                let addr = self.element(frame, *p, *i, t.size())?;
                let bits = self.issue(&Instr::new(table::Op::scalar_load, *t, &[addr as i64]))?;
                set(frame, *d, value_of(*t, bits));
            }
            Code::Store(v, p, i, t) => {
                let addr = self.element(frame, *p, *i, t.size())?;
                let v = get(frame, *v);
                let bits = bits_of(v, *t).ok_or_else(|| kind("a scalar", v))?;
                self.issue(&Instr::new(table::Op::scalar_store, *t, &[bits as i64, addr as i64]))?;
            }
            Code::View(d, src, e) => self.view(frame, *d, *src, e)?,
            Code::Partition(d, src, e) => self.partition(frame, *d, *src, e)?,
            Code::Alloc(d, t, place, valid) => self.alloc(frame, *d, t, *place, *valid)?,
            Code::Assign(d, t, at) => {
                let addr = self.num(frame, *at)? as u64;
                let tile = self.tile(frame, *t)?;
                let tile = Arc::new(Tile { addr, ..(*tile).clone() });
                self.own(&tile);
                set(frame, d.unwrap_or(*t), Value::Tile(tile));
            }
            Code::Reshape(d, src, to) => self.reshape(frame, *d, *src, to)?,
            Code::Subset(d, src, at, size) => self.subset(frame, *d, *src, *at, *size)?,
            Code::SetValid(t, r, c) => self.set_valid(frame, *t, *r, *c)?,
            Code::Tile(t) => self.tile_statement(frame, t, s.span)?,
            Code::Instr(op, types, nums) => self.instruction(frame, *op, *types, nums)?,
            Code::Flag(on, src, dst, id) => {
                let id = self.num(frame, *id)?;
                let op = if *on { table::Op::set_flag } else { table::Op::wait_flag };
                self.raw(&Instr::new(
                    op,
                    ptoemu_core::dtype::DType::I8,
                    &[*src as i64, *dst as i64, id],
                ))?;
            }
            Code::Barrier(p) => {
                self.raw(&Instr::new(
                    table::Op::pipe_barrier,
                    ptoemu_core::dtype::DType::I8,
                    &[*p as i64],
                ))?;
            }
            Code::Buffer(get, p, nums) => self.buffer(frame, *get, *p, *nums)?,
            Code::Micro(m) => self.micro(frame, m)?,
            Code::Move(m) => self.transfer(frame, m)?,
            Code::LoopReg(reg, out, nums) => self.loop_register(frame, *reg, *out, nums)?,
            Code::Unknown(name) => return Err(self.unknown(name)),
            _ => {}
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Stop {
        let bare = name.strip_prefix("pto.").unwrap_or(name);
        let tiles = crate::tile::OPS.iter().map(|o| o.name);
        let known = table::Op::ALL.iter().map(|o| o.mnemonic());
        let micro = crate::a5::Op::ALL.iter().map(|o| o.mnemonic());
        let help = match similar(bare, tiles.chain(known).chain(micro)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`ptoemu explain` lists what is; an op that is never reached may be anything"
                .to_string(),
        };
        refuse_with(
            "unsupported",
            format!("`{name}` is not modelled, and the program reaches it"),
            help,
        )
    }

    fn pointer(&mut self, frame: &mut Frame, code: &Code) -> Done {
        let (dst, v) = match code {
            Code::CastPtr { dst, src, to } => {
                let v = match (get(frame, *src), to) {
                    (Value::Int(a), Some(t)) => {
                        Value::Ptr(Ptr { space: Space::Ub, addr: *a as u64, elem: *t })
                    }
                    (Value::Ptr(p), Some(t)) => Value::Ptr(Ptr { elem: *t, ..*p }),
                    (Value::Ptr(p), None) => Value::Int(p.addr as i64),
                    (other, _) => return Err(kind("an integer or a pointer", other)),
                };
                (*dst, v)
            }
            Code::AddPtr(dst, src, by) => {
                let by = self.num(frame, *by)?;
                let Value::Ptr(p) = get(frame, *src) else {
                    return Err(kind("a pointer", get(frame, *src)));
                };
                let step = by.wrapping_mul(p.elem.size() as i64);
                (*dst, Value::Ptr(Ptr { addr: p.addr.wrapping_add(step as u64), ..*p }))
            }
            Code::TileAddr(dst, src, elem) => {
                let tile = self.tile(frame, *src)?;
                (*dst, Value::Ptr(Ptr { space: Space::Ub, addr: tile.addr, elem: *elem }))
            }
            _ => return Ok(()),
        };
        set(frame, dst, v);
        Ok(())
    }

    /// Byte address of element `i` of a pointer.
    fn element(&self, frame: &Frame, p: Slot, i: Num, size: usize) -> Result<u64, Stop> {
        let i = self.num(frame, i)?;
        match get(frame, p) {
            Value::Ptr(p) => Ok(p.addr.wrapping_add(i.wrapping_mul(size as i64) as u64)),
            other => Err(kind("a pointer", other)),
        }
    }

    fn numbers(&self, frame: &Frame, list: &[Num]) -> Result<Vec<i64>, Stop> {
        list.iter().map(|n| self.num(frame, *n)).collect()
    }

    fn view(&mut self, frame: &mut Frame, dst: Slot, src: Slot, e: &ViewExpr) -> Done {
        let (addr, elem) = match get(frame, src) {
            Value::Ptr(p) => (p.addr, p.elem),
            Value::View(v) => (v.addr, v.elem),
            other => return Err(kind("a pointer", other)),
        };
        let skip = match e.offset {
            Some(n) => self.num(frame, n)?.wrapping_mul(elem.size() as i64),
            None => 0,
        };
        let view = View {
            addr: addr.wrapping_add(skip as u64),
            elem,
            sizes: self.numbers(frame, &e.sizes)?,
            strides: self.numbers(frame, &e.steps)?,
            dn: e.dn,
        };
        set(frame, dst, Value::View(Arc::new(view)));
        Ok(())
    }

    fn partition(&mut self, frame: &mut Frame, dst: Slot, src: Slot, e: &ViewExpr) -> Done {
        let Value::View(v) = get(frame, src) else { return Err(kind("a view", get(frame, src))) };
        let (sizes, offsets) = (self.numbers(frame, &e.sizes)?, self.numbers(frame, &e.steps)?);
        if offsets.len() != v.strides.len() {
            let (have, given) = (v.strides.len(), offsets.len());
            return Err(refuse_with(
                "lower.operand",
                format!("the view has {have} dimensions, the partition {given}"),
                format!("give {have} offsets and {have} sizes"),
            ));
        }
        let skip = offsets
            .iter()
            .zip(&v.strides)
            .fold(0i64, |a, (o, s)| a.wrapping_add(o.wrapping_mul(*s)));
        let addr = v.addr.wrapping_add(skip.wrapping_mul(v.elem.size() as i64) as u64);
        let part = View { addr, sizes, ..(**v).clone() };
        set(frame, dst, Value::View(Arc::new(part)));
        Ok(())
    }

    pub(super) fn tile(&self, frame: &Frame, slot: Slot) -> Result<Arc<Tile>, Stop> {
        match get(frame, slot) {
            Value::Tile(t) => Ok(t.clone()),
            other => Err(kind("a tile", other)),
        }
    }

    /// Address of a place.
    pub(super) fn address(&self, frame: &Frame, place: Place) -> Result<u64, Stop> {
        match place {
            Place::At(n) => self.num(frame, n).map(|v| v as u64),
            Place::Auto(_) => Ok(self.program.address(place)),
        }
    }

    fn alloc(
        &mut self,
        frame: &mut Frame,
        dst: Slot,
        t: &Tile,
        place: Place,
        valid: [Option<Num>; 2],
    ) -> Done {
        let mut tile = Tile { addr: self.address(frame, place)?, ..t.clone() };
        let [r, c] = valid;
        if let Some(n) = r {
            tile.valid_rows = self.valid(frame, n, (&t.name, t.rows), "rows")?;
            tile.static_rows = false;
        }
        if let Some(n) = c {
            tile.valid_cols = self.valid(frame, n, (&t.name, t.cols), "columns")?;
            tile.static_cols = false;
        }
        self.own(&tile);
        set(frame, dst, Value::Tile(Arc::new(tile)));
        Ok(())
    }

    /// A run-time valid size: between 0 and the tile's size, or the run stops here.
    fn valid(&self, frame: &Frame, n: Num, of: (&str, u32), what: &str) -> Result<u32, Stop> {
        let v = self.num(frame, n)?;
        let (name, most) = of;
        u32::try_from(v).ok().filter(|v| *v <= most).ok_or_else(|| {
            refuse_with(
                "legality.valid_region",
                format!("`{name}`: {v} valid {what} in a tile with {most}"),
                format!("give 0 to {most}; the hardware hangs on other values, without a message"),
            )
        })
    }

    fn set_valid(&mut self, frame: &mut Frame, t: Slot, r: Num, c: Num) -> Done {
        let old = self.tile(frame, t)?;
        let mut tile = (*old).clone();
        tile.valid_rows = self.valid(frame, r, (&old.name, old.rows), "rows")?;
        tile.valid_cols = self.valid(frame, c, (&old.name, old.cols), "columns")?;
        (tile.static_rows, tile.static_cols) = (false, false);
        set(frame, t, Value::Tile(Arc::new(tile)));
        Ok(())
    }

    fn reshape(&mut self, frame: &mut Frame, dst: Slot, src: Slot, to: &Tile) -> Done {
        let from = self.tile(frame, src)?;
        if to.bytes() > from.bytes() {
            return Err(refuse_with(
                "legality.reshape",
                format!(
                    "`{}` has {} bytes, the {}x{} {} tile it is seen as has {}",
                    from.name,
                    from.bytes(),
                    to.rows,
                    to.cols,
                    to.dtype,
                    to.bytes()
                ),
                "the new type may not be larger: it names the same bytes",
            ));
        }
        set(frame, dst, Value::Tile(Arc::new(Tile { addr: from.addr, ..to.clone() })));
        Ok(())
    }

    fn subset(
        &mut self,
        frame: &mut Frame,
        dst: Slot,
        src: Slot,
        at: [Num; 2],
        size: [u32; 2],
    ) -> Done {
        let from = self.tile(frame, src)?;
        let (r, c) = (self.num(frame, at[0])?, self.num(frame, at[1])?);
        let fits = |at: i64, n: u32, whole: u32| {
            at >= 0 && at.saturating_add(i64::from(n)) <= i64::from(whole)
        };
        if !fits(r, size[0], from.rows)
            || !fits(c, size[1], from.cols)
            || from.layout != Layout::RowMajor
        {
            let order = if from.layout == Layout::RowMajor { "row-major" } else { "column-major" };
            return Err(refuse_with(
                "legality.subset",
                format!(
                    "{}x{} at ({r}, {c}) does not lie in the {}x{} {order} tile `{}`",
                    size[0], size[1], from.rows, from.cols, from.name
                ),
                "a subset lies inside a row-major tile: check offsets and sizes",
            ));
        }
        // The subset keeps the parent's row length: its rows are as far apart as the parent's.
        let mut tile = (*from).clone();
        tile.addr = from.at(r as u64, c as u64);
        tile.rows = size[0];
        (tile.valid_rows, tile.valid_cols) = (size[0], size[1]);
        set(frame, dst, Value::Tile(Arc::new(tile)));
        Ok(())
    }

    fn instruction(
        &mut self,
        frame: &mut Frame,
        op: table::Op,
        types: [ptoemu_core::dtype::DType; 2],
        nums: &[Num],
    ) -> Done {
        let params = op.form().params();
        let mut args = Vec::with_capacity(nums.len());
        for (p, n) in params.iter().zip(nums) {
            args.push(match (p.what, n) {
                (What::Addr(_), Num::Slot(s)) => match get(frame, *s) {
                    Value::Ptr(p) => p.addr as i64,
                    Value::Tile(t) => t.addr as i64,
                    other => return Err(kind("a pointer", other)),
                },
                (What::Scalar, Num::Slot(s)) => {
                    let v = get(frame, *s);
                    let t = if op.form() == table::Form::CmpS { types[1] } else { types[0] };
                    bits_of(v, t).ok_or_else(|| kind("a scalar", v))? as i64
                }
                _ => self.num(frame, *n)?,
            });
        }
        let instr = Instr::new(op, types[0], &args).from_dtype(types[1]);
        match op.form() {
            table::Form::Flag | table::Form::Barrier => self.raw(&instr),
            _ => self.issue(&instr).map(drop),
        }
    }

    /// Pipe of an instruction, for ordering.
    pub(super) fn pipe_of(instr: &Instr) -> Pipe {
        instr.op.row().pipe()
    }
}
