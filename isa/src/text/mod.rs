//! Lexer, parser, AST and printer of `.pto`.
