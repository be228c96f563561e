//! From text to postfix code.

use super::{
    Binary, Dimension, Expression, ExpressionError, FUNCTIONS, Function, MAX_DEPTH, MAX_STACK, MAX_TEXT, Op, Quantity,
    Step, Unary, closest, continues_name, starts_name, unit,
};

pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Values on the stack after the code so far.
    height: usize,
    out: Expression,
}

type Parsed<T> = Result<T, ExpressionError>;

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parsed<Parser<'a>> {
        if text.len() > MAX_TEXT {
            let shown: String = text.chars().take(40).collect();
            let message = format!("an expression of more than {MAX_TEXT} bytes");
            return Err(ExpressionError { message, offset: 0, text: shown, suggestion: None, known: vec![] });
        }
        let out = Expression { text: text.to_string(), code: vec![], names: vec![], units: vec![], lone_units: vec![] };
        Ok(Parser { text, at: 0, depth: 0, height: 0, out })
    }

    pub(super) fn run(mut self) -> Parsed<Expression> {
        self.sum()?;
        self.skip_spaces();
        match self.peek() {
            None => Ok(self.out),
            Some(')') => Err(self.error(self.at, "a `)` without its `(`")),
            Some(',') => Err(self.error(self.at, "a comma outside a function; a decimal point is written `.`")),
            Some(c) => {
                Err(self.error(self.at, format!("expected an operator or the end of the expression, found `{c}`")))
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ExpressionError {
        self.out.error(offset, message)
    }

    fn emit(&mut self, offset: usize, op: Op) -> Parsed<()> {
        match op {
            Op::Number(_) | Op::Name(_) => self.height += 1,
            Op::One(_) => {}
            Op::Two(_) => self.height -= 1,
        }
        if self.height > MAX_STACK {
            return Err(self.error(offset, "the expression is too deeply nested"));
        }
        self.out.code.push(Step { op, offset });
        Ok(())
    }

    fn sum(&mut self) -> Parsed<()> {
        self.product()?;
        loop {
            self.skip_spaces();
            let offset = self.at;
            let binary = match self.peek() {
                Some('+') => Binary::Add,
                Some('-') => Binary::Subtract,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.emit(offset, Op::Two(binary))?;
        }
    }

    fn product(&mut self) -> Parsed<()> {
        self.sign()?;
        loop {
            self.skip_spaces();
            let offset = self.at;
            let binary = match self.peek() {
                Some('*' | '·') => Binary::Multiply,
                Some('/') => Binary::Divide,
                _ => return Ok(()),
            };
            self.at += self.peek().map_or(0, char::len_utf8);
            self.sign()?;
            self.emit(offset, Op::Two(binary))?;
        }
    }

    fn sign(&mut self) -> Parsed<()> {
        self.skip_spaces();
        let offset = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(offset, "the expression is too deeply nested"));
        }
        if self.eat('-') {
            self.sign()?;
            self.emit(offset, Op::One(Unary::Negate))?;
        } else if self.eat('+') {
            self.sign()?;
        } else {
            self.atom()?;
            self.skip_spaces();
            let offset = self.at;
            if self.eat('^') {
                self.sign()?;
                self.emit(offset, Op::Two(Binary::Power))?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Parsed<()> {
        self.skip_spaces();
        let offset = self.at;
        match self.peek() {
            None => Err(self.error(offset, "expected a number, a name or `(`, found the end")),
            Some('(') => {
                self.at += 1;
                self.sum()?;
                self.close(offset)
            }
            Some('$') => {
                let rest = self.rest();
                let name = rest.strip_prefix("${").and_then(|r| r.split_once('}')).map(|(name, _)| name);
                let Some(name) = name else {
                    return Err(self.error(offset, "a variable in braces is written `${name}`"));
                };
                self.at += name.len() + 3;
                let name = name.trim();
                if name.is_empty() || !name.chars().all(continues_name) {
                    return Err(self.error(offset, "`${…}` holds the name of one variable"));
                }
                self.name(name, offset)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if starts_name(c) => {
                let word = self.word();
                self.skip_spaces();
                match self.peek() {
                    Some('(') => self.call(word, offset),
                    _ if word == "pi" => {
                        let value = std::f64::consts::PI;
                        self.emit(offset, Op::Number(Quantity { value, dimension: Some(Dimension::NONE) }))
                    }
                    _ if FUNCTIONS.iter().any(|(name, _)| *name == word) => {
                        Err(self.error(offset, format!("the function `{word}` needs its arguments: `{word}(…)`")))
                    }
                    _ => self.name(word, offset),
                }
            }
            Some(c) => Err(self.error(offset, format!("expected a number, a name or `(`, found `{c}`"))),
        }
    }

    fn close(&mut self, opened: usize) -> Parsed<()> {
        self.skip_spaces();
        if self.eat(')') {
            return Ok(());
        }
        match self.peek() {
            None => Err(self.error(opened, "this `(` is never closed")),
            Some(c) => Err(self.error(self.at, format!("expected an operator or `)`, found `{c}`"))),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn name(&mut self, name: &str, offset: usize) -> Parsed<()> {
        let known = self.out.names.iter().position(|n| n == name);
        let index = known.unwrap_or_else(|| {
            self.out.names.push(name.to_string());
            self.out.names.len() - 1
        });
        self.emit(offset, Op::Name(index))
    }

    fn call(&mut self, word: &str, offset: usize) -> Parsed<()> {
        let Some((_, function)) = FUNCTIONS.iter().find(|(name, _)| *name == word) else {
            let mut error = self.error(offset, format!("unknown function `{word}`"));
            error.suggestion = closest(word, FUNCTIONS.iter().map(|(name, _)| *name)).map(str::to_string);
            error.known = FUNCTIONS.iter().map(|(name, _)| name.to_string()).collect();
            return Err(error);
        };
        let opened = self.at;
        self.at += 1;
        let mut count = 0;
        loop {
            self.sum()?;
            count += 1;
            // Pairwise as they come: the stack does not grow with the number of arguments.
            if let (Function::Two(binary) | Function::Many(binary), 2..) = (function, count) {
                self.emit(offset, Op::Two(*binary))?;
            }
            self.skip_spaces();
            if !self.eat(',') {
                break;
            }
        }
        self.close(opened)?;
        let wanted = match (function, count) {
            (Function::One(unary), 1) => return self.emit(offset, Op::One(*unary)),
            (Function::Two(_), 2) | (Function::Many(_), 2..) => return Ok(()),
            (Function::One(_), _) => "one argument",
            (Function::Two(_), _) => "two arguments",
            (Function::Many(_), _) => "two arguments or more",
        };
        Err(self.error(offset, format!("`{word}` takes {wanted}, not {count}")))
    }

    /// A number literal and the unit behind it.
    fn number(&mut self) -> Parsed<()> {
        let offset = self.at;
        let bytes = self.text.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
                at += 1;
            }
            at
        };
        let mut end = digits(offset);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        // An exponent only if digits follow, so that `2 eV` fails as a unit and not as a number.
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(signed).is_some_and(u8::is_ascii_digit) {
                end = digits(signed);
            }
        }
        let literal = self.text[offset..end].replace('_', "");
        let Ok(value) = literal.parse::<f64>() else {
            return Err(self.error(offset, format!("`{literal}` is not a number")));
        };
        self.at = end;
        let (size, dimension) = self.unit()?;
        // Zero is zero in any unit.
        let dimension = if value == 0.0 && dimension == Dimension::NONE { None } else { Some(dimension) };
        self.emit(offset, Op::Number(Quantity { value: value * size, dimension }))
    }

    /// The unit behind a number, or one.
    fn unit(&mut self) -> Parsed<(f64, Dimension)> {
        let number_end = self.at;
        self.skip_spaces();
        let start = self.at;
        if self.eat('%') {
            self.out.units.push("%".to_string());
            return Ok((0.01, Dimension::NONE));
        }
        let mut divided = false;
        if let Some(rest) = self.rest().strip_prefix("1/")
            && start > number_end
            && unit_at(rest).is_some()
        {
            self.at += 2;
            divided = true;
        } else if !self.peek().is_some_and(starts_symbol) {
            self.at = number_end;
            return Ok((1.0, Dimension::NONE));
        }
        // Above and below the line apart, so that a prefix divided out stays exactly rounded.
        let (mut above, mut below, mut dimension) = (1.0, 1.0, Dimension::NONE);
        let (mut symbols, mut slashed) = (0, divided);
        loop {
            let (size, single) = self.unit_factor()?;
            let too_large = |parser: &Self| parser.error(start, "the exponents of the unit grow too large");
            if divided {
                below *= size;
                dimension = dimension.over(single).ok_or_else(|| too_large(self))?;
            } else {
                above *= size;
                dimension = dimension.times(single).ok_or_else(|| too_large(self))?;
            }
            symbols += 1;
            let rest = self.rest();
            let spaced = rest.trim_start();
            if let Some(tail) = rest.strip_prefix('/').filter(|tail| unit_at(tail).is_some()) {
                self.at = self.text.len() - tail.len();
                (divided, slashed) = (true, true);
            } else if let Some(tail) = rest.strip_prefix(['*', '·']).filter(|tail| unit_at(tail).is_some()) {
                self.at = self.text.len() - tail.len();
                divided = false;
            } else if spaced.len() < rest.len() && spaced.starts_with(starts_symbol) {
                self.skip_spaces();
                divided = false;
            } else {
                break;
            }
            if slashed && !divided {
                let message = "a product behind a slash could be read in two ways; write `N s/m` or `N/m/s`";
                return Err(self.error(start, message));
            }
        }
        if symbols == 1 && !slashed {
            self.out.lone_units.push((self.text[start..self.at].to_string(), start));
        }
        Ok((above / below, dimension))
    }

    /// One symbol with its power.
    fn unit_factor(&mut self) -> Parsed<(f64, Dimension)> {
        let offset = self.at;
        let symbol = symbol_at(self.rest());
        let Some((size, dimension)) = unit::find(symbol) else {
            let mut error = self.error(offset, format!("unknown unit `{symbol}`"));
            error.suggestion = closest(symbol, unit::common()).map(str::to_string);
            if self.out.names.iter().any(|name| name == symbol) || error.suggestion.is_none() {
                error.message += "; a product with a variable is written with `*`";
            }
            return Err(error);
        };
        self.at += symbol.len();
        self.out.units.push(symbol.to_string());
        let power = self.unit_power()?;
        let raised = dimension.power(f64::from(power));
        let dimension = raised.ok_or_else(|| self.error(offset, "the exponents of the unit grow too large"))?;
        Ok((size.powi(power), dimension))
    }

    fn unit_power(&mut self) -> Parsed<i32> {
        if self.eat('²') {
            return Ok(2);
        }
        if self.eat('³') {
            return Ok(3);
        }
        let offset = self.at;
        if !self.eat('^') {
            return Ok(1);
        }
        let sign = if self.eat('-') { -1 } else { 1 };
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..digits].parse::<i32>() {
            Ok(power) if (1..=9).contains(&power) => {
                self.at += digits;
                Ok(sign * power)
            }
            _ => {
                Err(self.error(offset, "the power of a unit is a whole number from 1 to 9; write `(2 m)^x` otherwise"))
            }
        }
    }
}

fn starts_symbol(c: char) -> bool {
    starts_name(c) || c == '°'
}

/// The unit symbol a text begins with, known or not.
fn symbol_at(text: &str) -> &str {
    let end = text.find(|c| !(continues_name(c) || c == '°')).unwrap_or(text.len());
    &text[..end]
}

fn unit_at(text: &str) -> Option<(f64, Dimension)> {
    unit::find(symbol_at(text))
}
