//! Expressions compiled for evaluation at every grain and step.

use super::{Binary, Expression, ExpressionError, MAX_STACK, Op, Unary};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Code {
    Number(f64),
    Slot(usize),
    One(Unary),
    Two(Binary),
    /// A whole power, many times faster than `powf`.
    Whole(i32),
}

/// An expression of named slots, all in SI and without dimensions: a force field in `x`, `vy`, `t`, …
///
/// Units behind numbers are converted, so `-5 N/m * x` works. A number followed by one symbol that is also a slot,
/// such as `2 m` where `m` is the mass, is refused, since it could be meant as a product. Kept as its text when
/// serialised, and compiled again when read.
///
/// ```
/// use esker::expression::Program;
/// let spring = Program::compile("-5 kN/m * (x - 500 mm) - c*vx", &["x", "vx", "c"])?;
/// assert_eq!(spring.eval(&[0.75, 2.0, 1.5]), -1253.0);
/// # Ok::<(), esker::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ProgramText", into = "ProgramText")]
pub struct Program {
    text: String,
    slots: Vec<String>,
    code: Vec<Code>,
}

#[derive(Serialize, Deserialize)]
struct ProgramText {
    text: String,
    slots: Vec<String>,
}

impl TryFrom<ProgramText> for Program {
    type Error = ExpressionError;

    fn try_from(from: ProgramText) -> Result<Program, ExpressionError> {
        let slots: Vec<&str> = from.slots.iter().map(String::as_str).collect();
        Program::compile(&from.text, &slots)
    }
}

impl From<Program> for ProgramText {
    fn from(program: Program) -> ProgramText {
        ProgramText { text: program.text, slots: program.slots }
    }
}

impl Program {
    /// Compiles a text whose names are all among `slots`.
    pub fn compile(text: &str, slots: &[&str]) -> Result<Program, ExpressionError> {
        let expression = Expression::parse(text)?;
        if let Some((symbol, offset)) = expression.lone_units.iter().find(|(s, _)| slots.contains(&s.as_str())) {
            let message = format!("`{symbol}` is a unit behind a number and also a variable here; write `2*{symbol}`");
            return Err(expression.error(*offset, message));
        }
        let mut code: Vec<Code> = vec![];
        for step in &expression.code {
            let next = match step.op {
                Op::Number(quantity) => Code::Number(quantity.value),
                Op::Name(index) => {
                    let name = &expression.names[index];
                    let slot = slots.iter().position(|slot| slot == name);
                    Code::Slot(slot.ok_or_else(|| expression.unknown_name(name, step.offset, slots))?)
                }
                Op::One(unary) => Code::One(unary),
                Op::Two(binary) => Code::Two(binary),
            };
            push_folded(&mut code, next);
        }
        let slots = slots.iter().map(|slot| slot.to_string()).collect();
        Ok(Program { text: text.to_string(), slots, code })
    }

    /// The value for these slots, in the order given to [`compile`](Program::compile). Not finite where the formula
    /// is not (a division by zero, the root of a negative number).
    ///
    /// # Panics
    ///
    /// If there are fewer values than slots in use, which is a mistake of the calling program.
    pub fn eval(&self, slots: &[f64]) -> f64 {
        let mut stack = [0.0; MAX_STACK];
        let mut top = 0; // values on the stack
        for code in &self.code {
            match *code {
                Code::Number(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Code::Slot(slot) => {
                    stack[top] = slots[slot];
                    top += 1;
                }
                Code::One(unary) => stack[top - 1] = unary.apply(stack[top - 1]),
                Code::Whole(power) => stack[top - 1] = stack[top - 1].powi(power),
                Code::Two(binary) => {
                    top -= 1;
                    stack[top - 1] = binary.apply(stack[top - 1], stack[top]);
                }
            }
        }
        stack[0]
    }

    /// The text it was compiled from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of its slots.
    pub fn slots(&self) -> &[String] {
        &self.slots
    }
}

/// Appends an instruction, or computes it now when its operands are numbers.
fn push_folded(code: &mut Vec<Code>, next: Code) {
    let folded = match (next, code.as_slice()) {
        (Code::One(unary), [.., Code::Number(a)]) => Some((1, Code::Number(unary.apply(*a)))),
        (Code::Two(binary), [.., Code::Number(a), Code::Number(b)]) => Some((2, Code::Number(binary.apply(*a, *b)))),
        (Code::Two(Binary::Power), [.., Code::Number(b)]) if b.fract() == 0.0 && b.abs() <= 16.0 => {
            Some((1, Code::Whole(*b as i32)))
        }
        _ => None,
    };
    match folded {
        Some((operands, result)) => {
            code.truncate(code.len() - operands);
            code.push(result);
        }
        None => code.push(next),
    }
}
