use super::*;
use proptest::prelude::*;

fn value(text: &str) -> Quantity {
    let variable = |name: &str| match name {
        "width" => Some(Quantity { value: 0.3, dimension: Some(Dimension::LENGTH) }),
        "h" | "s" => Some(Quantity { value: 0.5, dimension: Some(Dimension::LENGTH) }),
        "plain" => Some(Quantity::plain(4.0)),
        _ => None,
    };
    Expression::parse(text).and_then(|e| e.evaluate(variable, &["width", "h", "s", "plain"])).unwrap()
}

fn error(text: &str) -> ExpressionError {
    let width = Quantity { value: 0.3, dimension: Some(Dimension::LENGTH) };
    let known = |name: &str| (name == "width").then_some(width);
    match Expression::parse(text).and_then(|e| e.evaluate(known, &["width"])) {
        Err(error) => error,
        Ok(quantity) => panic!("`{text}` gave {quantity:?}"),
    }
}

#[track_caller]
fn assert_is(text: &str, expected: f64, dimension: Dimension) {
    let found = value(text);
    assert_eq!(found.dimension, Some(dimension), "{text}");
    assert!((found.value - expected).abs() <= 2.0 * f64::EPSILON * expected.abs(), "{text}: {}", found.value);
}

#[test]
fn numbers_with_units_become_si() {
    assert_eq!(value("3.2 mm").value, 3.2e-3);
    assert_eq!(value("80 mm").value, 0.08);
    assert_is("1e6 N/m", 1e6, Dimension::STIFFNESS);
    assert_is("9.8 m/s^2", 9.8, Dimension::ACCELERATION);
    assert_is("-9.8 m/s²", -9.8, Dimension::ACCELERATION);
    assert_is("30 deg", std::f64::consts::FRAC_PI_6, Dimension::NONE);
    assert_is("30°", std::f64::consts::FRAC_PI_6, Dimension::NONE);
    assert_is("5 %", 0.05, Dimension::NONE);
    assert_is("52.6 Hz", 52.6, Dimension::RATE);
    assert_is("1190 kg/m^2", 1190.0, Dimension::AREA_DENSITY);
    assert_is("2650 kg m^-3", 2650.0, Dimension::DENSITY);
    assert_is("2.65 g/cm^3", 2650.0, Dimension::DENSITY);
    assert_is("60 rpm", 2.0 * std::f64::consts::PI, Dimension::RATE);
    assert_is("1 rev/s", 2.0 * std::f64::consts::PI, Dimension::RATE);
    assert_is("1000 1/s", 1000.0, Dimension::RATE);
    assert_is("1.5e3 N s/m", 1500.0, Dimension::DAMPING);
    assert_is("1.5e3 N*s/m", 1500.0, Dimension::DAMPING);
    assert_is("20 MPa", 20e6, Dimension::PRESSURE);
    assert_is("5 kN/m", 5e3, Dimension::STIFFNESS);
    assert_is("1 mPa s", 1e-3, Dimension::VISCOSITY);
    assert_is("3 µm", 3e-6, Dimension::LENGTH);
    assert_is("1_000mm", 1.0, Dimension::LENGTH);
    assert_is("2 h", 7200.0, Dimension::TIME);
    assert_is("6.674e-11 m^3/kg/s^2", 6.674e-11, Dimension::ATTRACTION);
    assert_is("36 km/h", 10.0, Dimension::SPEED);
}

#[test]
fn a_unit_is_read_only_directly_behind_a_number_and_without_spaces_around_its_slash() {
    assert_is("2 m/s^2", 2.0, Dimension::ACCELERATION);
    assert_is("2 m / (4 s)", 0.5, Dimension::SPEED);
    assert_is("width/2", 0.15, Dimension::LENGTH);
    assert_is("6 m/width", 20.0, Dimension::NONE);
    assert_is("10 mm / h", 0.02, Dimension::NONE); // h is the variable
    assert_is("10 mm/h", 0.01 / 3600.0, Dimension::SPEED); // h is the hour
    assert_is("2 s", 2.0, Dimension::TIME); // the unit, although s is a variable
    assert_is("2*s", 1.0, Dimension::LENGTH);
    assert_is("10 mm/2", 0.005, Dimension::LENGTH);
    assert_is("${width}/2 + ${ h }", 0.65, Dimension::LENGTH);
}

#[test]
fn operators_bind_as_on_paper() {
    assert_is("1 + 2*3^2", 19.0, Dimension::NONE);
    assert_is("-2^2", -4.0, Dimension::NONE);
    assert_is("2^3^2", 512.0, Dimension::NONE);
    assert_is("2^-1", 0.5, Dimension::NONE);
    assert_is("10 - 4 - 3", 3.0, Dimension::NONE);
    assert_is("8/4/2", 1.0, Dimension::NONE);
    assert_is("2 m^2", 2.0, Dimension::AREA);
    assert_is("(2 m)^2", 4.0, Dimension::AREA);
    assert_is("--2", 2.0, Dimension::NONE);
    assert_is("2*-3", -6.0, Dimension::NONE);
}

#[test]
fn functions_and_dimensions_work_together() {
    assert_is("sqrt(2*9.8 m/s^2*10 m)", 14.0, Dimension::SPEED);
    assert_is("hypot(3 mm, 4 mm)", 0.005, Dimension::LENGTH);
    assert_is("max(1 mm, 3 mm, 2 mm)", 0.003, Dimension::LENGTH);
    assert_is("max(0, width)", 0.3, Dimension::LENGTH);
    assert_is("atan2(1 m, 1 m)", std::f64::consts::FRAC_PI_4, Dimension::NONE);
    assert_is("sin(pi/6) + cos(60 deg)", 1.0, Dimension::NONE);
    assert_is("pow(8 m^3, 1/3)", 2.0, Dimension::LENGTH);
    assert_is("sign(-3 m) + abs(-2) + floor(2.7) + ln(exp(1))", 4.0, Dimension::NONE);
    assert_eq!(value("sign(0)").value, 0.0);
    assert_eq!(value("plain*2 + width").dimension, Some(Dimension::LENGTH));
    assert_eq!(value("plain*width").dimension, None);
}

#[test]
fn errors_tell_the_place_and_the_remedy() {
    let cases = [
        ("5 mmm", 2, "unknown unit `mmm` in `5 mmm` (did you mean `mm`?)"),
        ("2 width", 2, "unknown unit `width`; a product with a variable is written with `*` in `2 width`"),
        ("1 + widht", 4, "unknown name `widht` in `1 + widht` (did you mean `width`?)"),
        ("sine(1)", 0, "unknown function `sine` in `sine(1)` (did you mean `sin`?)"),
        ("width + 2 s", 6, "cannot add a length and a time in `width + 2 s`"),
        ("width + 2", 6, "cannot add a length and a plain number in `width + 2`"),
        ("sin(2 m)", 0, "sin needs a plain number, not a length in `sin(2 m)`"),
        ("2^(1 m)", 1, "an exponent must be a plain number, not a length in `2^(1 m)`"),
        ("(1 + 2", 0, "this `(` is never closed in `(1 + 2`"),
        ("1 + 2)", 5, "a `)` without its `(` in `1 + 2)`"),
        ("1,5 mm", 1, "a comma outside a function; a decimal point is written `.` in `1,5 mm`"),
        ("", 0, "expected a number, a name or `(`, found the end in ``"),
        ("1 +", 3, "expected a number, a name or `(`, found the end in `1 +`"),
        ("atan2(1)", 0, "`atan2` takes two arguments, not 1 in `atan2(1)`"),
        ("1/0", 0, "the value is not finite (inf) in `1/0`"),
        ("1 N/m s", 2, "a product behind a slash could be read in two ways; write `N s/m` or `N/m/s` in `1 N/m s`"),
        ("sin", 0, "the function `sin` needs its arguments: `sin(…)` in `sin`"),
        ("µ§", 2, "expected an operator or the end of the expression, found `§` in `µ§`"),
    ];
    for (text, offset, message) in cases {
        let found = error(text);
        assert_eq!(found.to_string(), message);
        assert_eq!(found.offset, offset, "{text}");
    }
    assert!(error("100/s").message.contains("`s` is a unit"), "{}", error("100/s"));
}

#[test]
fn long_and_deep_texts_end_in_errors_not_in_a_full_stack() {
    assert_eq!(value(&vec!["1"; 4000].join("+")).value, 4000.0);
    for text in ["(".repeat(9000), "-".repeat(9000), "2^".repeat(4000), "sin(".repeat(2000), "1".repeat(20_000)] {
        assert!(Expression::parse(&text).is_err());
    }
    assert!(error(&"(".repeat(9000)).message.contains("too deeply nested"));
}

#[test]
fn dimensions_print_in_base_units() {
    assert_eq!(Dimension::FORCE.to_string(), "kg m/s^2");
    assert_eq!(Dimension::RATE.to_string(), "1/s");
    assert_eq!(Dimension::NONE.to_string(), "1");
    assert_eq!(Dimension::LENGTH.power(0.5).unwrap().to_string(), "m^(1/2)");
    assert_eq!(Dimension::LENGTH.power(1.0 / 3.0).unwrap().to_string(), "m^(1/3)");
    assert_eq!(Dimension::LENGTH.power(0.25), None);
    assert_eq!(Dimension::new(1, 1, 0).describe(), "a quantity in kg m");
}

#[test]
fn suggestions_are_near_or_absent() {
    assert_eq!(closest("frction", ["law", "friction", "fraction"]), Some("friction"));
    assert_eq!(closest("Steel", ["glass", "steel"]), Some("steel"));
    assert_eq!(closest("x", ["y", "z"]), None);
    assert_eq!(closest("orifice", ["width"]), None);
    assert_eq!(closest("raidus", ["radius"]), Some("radius"));
}

#[test]
fn a_program_gives_the_closed_form_of_a_force_field() {
    let slots = ["x", "y", "z", "vx", "vy", "vz", "t", "r", "m"];
    let program = Program::compile("m*9.8*sin(2*pi*50*t) - 6*pi*1e-3*r*vx + x^2/(y + 2)", &slots).unwrap();
    let at = [0.3, 0.5, 0.0, 1.5, 0.0, 0.0, 0.0123, 0.01, 2.0];
    let pi = std::f64::consts::PI;
    let exact = 2.0 * 9.8 * (2.0 * pi * 50.0 * 0.0123_f64).sin() - 6.0 * pi * 1e-3 * 0.01 * 1.5 + 0.3 * 0.3 / 2.5;
    assert!((program.eval(&at) - exact).abs() < 1e-14 * exact.abs().max(1.0));
    let again: Program = Program::compile(program.text(), &slots).unwrap();
    assert_eq!(again, program);
}

#[test]
fn a_program_refuses_unknown_names_and_products_written_as_units() {
    let error = Program::compile("-k*xx", &["x", "k"]).unwrap_err();
    assert_eq!(error.to_string(), "unknown name `xx` in `-k*xx` (did you mean `x`?)");
    let error = Program::compile("9.8 m", &["m"]).unwrap_err();
    assert_eq!(error.message, "`m` is a unit behind a number and also a variable here; write `2*m`");
    assert_eq!(Program::compile("5 N/m*x", &["m", "x"]).unwrap().eval(&[7.0, 2.0]), 10.0);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
        let _ = Expression::parse(&text).and_then(|e| e.evaluate(|_| None, &[]));
    }

    #[test]
    fn text_made_of_pieces_of_the_language_never_panics(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "1", "2.5e3", " ", "mm", "m", "/", "s^2", "^", "(", ")", "+", "-", "*", "x", "${x}", "sin", ",", "%", "1/", "°",
        ]), 0..30),
    ) {
        let text = pieces.concat();
        if let Ok(expression) = Expression::parse(&text) {
            let program = Program::compile(&text, &["x"]);
            let checked = expression.evaluate(|name| (name == "x").then_some(Quantity::plain(1.5)), &[]);
            // The two evaluations agree wherever both accept the text.
            if let (Ok(program), Ok(checked)) = (program, checked) {
                let fast = program.eval(&[1.5]);
                prop_assert!((fast - checked.value).abs() <= 1e-12 * checked.value.abs() || fast == checked.value,
                    "{text}: {fast} {}", checked.value);
            }
        }
    }

    #[test]
    fn printed_sums_evaluate_to_themselves(a in -1e6..1e6f64, b in -1e6..1e6f64) {
        let found = value(&format!("{a:e} - ({b:e})"));
        prop_assert_eq!(found.value, a - b);
    }
}
