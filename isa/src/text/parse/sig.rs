//! Type signatures: `: T, U -> V`, `: (T, U) -> V`, `: T to U`, `-> V`.

use super::*;

impl Parser<'_> {
    pub(super) fn signature(&mut self) -> Parsed<Option<TypeSig>> {
        let start = self.tok;
        let mut sig = TypeSig {
            form: SigForm::Colon,
            operands: Vec::new(),
            results: Vec::new(),
            marks: Vec::new(),
            operand_parens: false,
            result_parens: false,
            span: span(start),
        };
        if self.eat(b':') {
            self.operand_types(&mut sig)?;
            if self.tok.kind == Tok::Arrow {
                sig.form = SigForm::ColonArrow;
                self.result_types(&mut sig)?;
            } else if self.at_word("to") && !self.tok.line_start {
                sig.form = SigForm::ColonTo;
                self.result_types(&mut sig)?;
            }
        } else if self.tok.kind == Tok::Arrow {
            sig.form = SigForm::Arrow;
            self.result_types(&mut sig)?;
            if self.eat(b':') {
                sig.form = SigForm::ArrowColon;
                self.operand_types(&mut sig)?;
            }
        } else {
            return Ok(None);
        }
        sig.span = self.since(start);
        Ok(Some(sig))
    }

    fn operand_types(&mut self, sig: &mut TypeSig) -> Parsed<()> {
        if self.at(b'(') {
            sig.operand_parens = true;
            return self.paren_types(&mut sig.operands);
        }
        loop {
            self.operand_type(sig)?;
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    /// One type, or a keyword with what belongs to it: `nd2nz`, `shape i64`, `src_layout(i64)`.
    fn operand_type(&mut self, sig: &mut TypeSig) -> Parsed<()> {
        if self.unknown_word().is_none() {
            sig.operands.push(self.ty()?);
            return Ok(());
        }
        let t = self.bump();
        let word = self.ident_of(t);
        let before = sig.operands.len();
        let mut mark = TypeMark { before, word, group: None, joined: false };
        if self.at(b'(') {
            self.paren_types(&mut sig.operands)?;
            mark.group = Some(sig.operands.len() - before);
        } else if self.type_follows() {
            sig.operands.push(self.ty()?);
            mark.joined = true;
        }
        sig.marks.push(mark);
        Ok(())
    }

    fn type_follows(&self) -> bool {
        match self.tok.kind {
            Tok::Bang => self.peek().kind != Tok::Punct(b'='),
            Tok::Punct(b'<') => true,
            Tok::Ident => ty::is_type_word(self.slice(self.tok)),
            _ => false,
        }
    }

    /// Behind `->` or `to`.
    fn result_types(&mut self, sig: &mut TypeSig) -> Parsed<()> {
        self.bump();
        if self.at(b'(') {
            sig.result_parens = true;
            return self.paren_types(&mut sig.results);
        }
        loop {
            sig.results.push(self.ty()?);
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    /// `(T, U)`
    pub(super) fn paren_types(&mut self, out: &mut Vec<Type>) -> Parsed<()> {
        self.expect(b'(', "`(`")?;
        let first = out.len();
        while !self.at(b')') {
            if out.len() > first {
                self.expect(b',', "`,` or `)`")?;
            }
            out.push(self.ty()?);
        }
        self.bump();
        Ok(())
    }
}
