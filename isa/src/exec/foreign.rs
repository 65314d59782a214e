//! Which processor family the statements of a program belong to.

use super::program::{Code, Program, Stmt};
use crate::tile::Family;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::stream::Kind;

impl Program {
    /// The first instruction of another family than `family`, as a refusal. Tile operations,
    /// flags, barriers and scalar code belong to both.
    pub fn foreign(&self, family: Family) -> Option<Diagnostic> {
        self.funcs.iter().find_map(|f| self.first(&f.body, family))
    }

    fn first(&self, list: &[Stmt], family: Family) -> Option<Diagnostic> {
        list.iter().find_map(|s| match &s.code {
            Code::Instr(op, ..) if family == Family::A5 => {
                let own = matches!(op.row().kind(), Kind::Vector | Kind::Copy | Kind::MaskWrite);
                own.then(|| self.refusal(s, op.mnemonic(), "A2/A3", "the 950", "-v a3"))
            }
            Code::Vecscope(_) if family == Family::A2A3 => {
                Some(self.refusal(s, "a vecscope", "the 950", "A2/A3", "-v 950pr"))
            }
            Code::Micro(m) if family == Family::A2A3 => {
                let name = m.step.op.mnemonic();
                Some(self.refusal(s, name, "the 950", "A2/A3", "-v 950pr"))
            }
            Code::For { body, .. } | Code::Section(body) => self.first(body, family),
            Code::If { then, els, .. } => {
                self.first(then, family).or_else(|| self.first(els, family))
            }
            Code::While { before, after, .. } => {
                self.first(before, family).or_else(|| self.first(after, family))
            }
            _ => None,
        })
    }

    fn refusal(&self, s: &Stmt, name: &str, of: &str, on: &str, option: &str) -> Diagnostic {
        let text = format!("{name} is an instruction of {of} and does not exist on {on}");
        Diagnostic::error("lower.family", text)
            .at(&self.source, s.span, "")
            .help(format!("run the kernel with {option}, or write it with tile operations"))
    }
}
