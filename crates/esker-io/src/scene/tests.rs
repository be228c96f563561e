mod examples;

use super::choice::{FillMethod, NormalLaw, TangentialLaw};
use super::raw::*;
use super::*;
use esker::expression::Dimension;
use esker::math::Vec3;
use proptest::prelude::*;

const HOPPER: &str = r#"title   = "Hopper with 500 discs, opening ${orifice}"
planar  = true
gravity = [0, "-9.8 m/s^2"]
seed    = 7

[let]
width   = "0.3 m"   # the silo
orifice = "80 mm"

[material.disc]
density = "1190 kg/m^2"

[material.steel]

[contact.disc-disc]
normal     = { law = "hooke",  stiffness = "1e6 N/m", damping = "1e3 N s/m" }
tangential = { law = "spring", stiffness = "1e5 N/m", damping = "1e3 N s/m", friction = 0.43 }

[contact.disc-steel]
normal     = { law = "hooke",  stiffness = "1.5e6 N/m", damping = "1.5e3 N s/m" }
tangential = { law = "spring", stiffness = "1.5e5 N/m", damping = "1.5e3 N s/m", friction = 0.33 }

[[wall]]
name     = "hopper"
material = "steel"
polyline = [["-width/2", "0.8 m"], ["-width/2", 0.19], ["-orifice/2", 0], ["orifice/2", 0], ["width/2", 0.19], ["width/2", "0.8 m"]]
gap      = { between = [2, 3], name = "gate" }

[[grains]]
name     = "bed"
material = "disc"
radius   = { normal = "10 mm", spread = "5 %" }
fill     = { method = "drop-and-roll", count = 500 }

[[stage]]
name   = "settle"
solver = { kind = "explicit", step = "auto" }
until  = { kinetic-energy = "1e-6 J" }

[[stage]]
name     = "discharge"
open     = ["gate"]
duration = "5 s"

[[remove]]
below = { y = "-20 mm" }

[output]
frames = "20 ms"
series = "5 ms"
probe  = [{ name = "outflow", flow-through = { y = 0 } }, { name = "wall-load", force-on = "hopper" }]
"#;

fn set(overrides: &[&str]) -> Vec<String> {
    overrides.iter().map(|text| text.to_string()).collect()
}

#[track_caller]
fn scene(text: &str, overrides: &[&str]) -> RawScene {
    read(text, "hopper.toml", &set(overrides)).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_error(text: &str, expected: &str) {
    match read(text, "hopper.toml", &[]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

/// The hopper with one piece of text replaced.
#[track_caller]
fn with(from: &str, to: &str) -> String {
    assert!(HOPPER.contains(from), "{from}");
    HOPPER.replacen(from, to, 1)
}

#[test]
fn the_hopper_is_read_in_si() {
    let scene = scene(HOPPER, &[]);
    assert_eq!(scene.title.as_ref().unwrap().value, "Hopper with 500 discs, opening 80 mm");
    assert!(scene.planar);
    assert_eq!(scene.gravity.unwrap().value, Vec3::new(0.0, -9.8, 0.0));
    assert_eq!(scene.seed.unwrap().value, 7);
    let density = scene.materials[0].density.unwrap().value;
    assert_eq!((density.value, density.dimension), (1190.0, Some(Dimension::AREA_DENSITY)));
    assert_eq!(scene.contacts[1].pair.value, "disc-steel");
    let normal = scene.contacts[1].normal.as_ref().unwrap();
    assert_eq!((normal.law.value, normal.stiffness.unwrap().value), (NormalLaw::Hooke, 1.5e6));
    let tangential = scene.contacts[0].tangential.as_ref().unwrap();
    assert_eq!((tangential.law.value, tangential.friction.unwrap().value), (TangentialLaw::Spring, 0.43));
    let RawGeometry::Polyline { points, closed: false } = &scene.walls[0].geometry.value else { panic!() };
    assert_eq!(points[2], Vec3::new(-0.04, 0.0, 0.0));
    assert_eq!(points.len(), 6);
    assert_eq!(scene.walls[0].gaps[0].between.value, [2, 3]);
    let RawRadiusKind::Normal { mean, spread, log: false, .. } = &scene.grains[0].radius.as_ref().unwrap().kind else {
        panic!()
    };
    assert_eq!((mean.value, spread.value.value), (0.01, 0.05));
    assert_eq!(scene.grains[0].fill.method.value, FillMethod::DropAndRoll);
    assert_eq!(scene.grains[0].fill.amount.unwrap().value, RawAmount::Count(500));
    assert_eq!(scene.stages[0].until.as_ref().unwrap().kinetic_energy.unwrap().value, 1e-6);
    assert_eq!(scene.stages[0].solver.as_ref().unwrap().step.unwrap().value, RawStep::Auto);
    assert_eq!(scene.stages[1].open[0].value, "gate");
    assert_eq!(scene.output.as_ref().unwrap().probes.len(), 2);
    assert_eq!(scene.normalised_text(), HOPPER);
}

#[test]
fn unknown_keys_are_told_with_place_section_and_the_likely_key() {
    assert_error(
        &with("friction = 0.33", "frction = 0.33"),
        "error: unknown key `frction` in tangential\n  hopper.toml:21:82, in [contact.disc-steel]: `frction = 0.33`; \
         known keys: law, stiffness, stiffness-ratio, exponent, compliance, friction, damping, rate, damping-ratio \
         (did you mean `friction`?)",
    );
    assert_error(
        &with("density =", "denstiy ="),
        "error: unknown key `denstiy`\n  hopper.toml:11:1, in [material.disc]: `denstiy = \"1190 kg/m^2\"`; \
         known keys: density, youngs-modulus, poisson-ratio, friction, restitution (did you mean `density`?)",
    );
    assert_error(
        &with("seed    = 7", "sed = 7"),
        "error: unknown key `sed`\n  hopper.toml:4:1: `sed = 7`; known keys: title, planar, depth, gravity, seed, let, \
         domain, material, contact, wall, grains, feed, remove, field, solver, stage, output (did you mean `seed`?)",
    );
    assert_error(
        &with("[output]", "[outputs]"),
        "error: unknown key `outputs`\n  hopper.toml:48:2; known keys: title, planar, depth, gravity, seed, let, \
         domain, material, contact, wall, grains, feed, remove, field, solver, stage, output (did you mean `output`?)",
    );
}

#[test]
fn dimensions_are_checked() {
    assert_error(
        &with("{ normal = \"10 mm\", spread = \"5 %\" }", "\"5 kg\""),
        "error: `radius = \"5 kg\"` is a mass, a length was expected\n  hopper.toml:32:12, in [[grains]] \"bed\"",
    );
    assert_error(
        &with("\"-9.8 m/s^2\"", "\"-9.8 m/s\""),
        "error: `\"-9.8 m/s\"` in `gravity` is a velocity, an acceleration was expected\n  hopper.toml:3:15: \
         `gravity = [0, \"-9.8 m/s\"]`",
    );
    assert_error(
        &with("\"5 s\"", "\"5\""),
        "error: `duration = \"5\"` is a plain number, a time was expected\n  hopper.toml:43:12, in [[stage]] \
         \"discharge\"; add the unit (s), or leave the quotes away for SI",
    );
    assert_error(
        &with("friction = 0.33", "friction = \"3 mm\""),
        "error: `friction = \"3 mm\"` is a length, a plain number was expected\n  hopper.toml:21:93, in \
         [contact.disc-steel]",
    );
    assert_error(
        &with("\"1190 kg/m^2\"", "\"1190 kg/m\""),
        "error: `density = \"1190 kg/m\"` is a quantity in kg/m, a density (kg/m^3) or a density per area (kg/m^2) \
         was expected\n  hopper.toml:11:11, in [material.disc]",
    );
}

#[test]
fn cycles_are_not_taken_for_radians() {
    let motion = "gap = { between = [2, 3], name = \"gate\" }\nmotion = ";
    let wall = |text: &str| with("gap      = { between = [2, 3], name = \"gate\" }", &format!("{motion}{text}"));
    assert_error(
        &wall("{ rotate = { rate = \"1 Hz\" } }"),
        "error: `rate = \"1 Hz\"` is in Hz, an angular velocity (rad/s) was expected\n  hopper.toml:28:30, in \
         [[wall]] \"hopper\"; write `rad/s`, `rpm` or `rev/s`",
    );
    assert_error(
        &wall("{ oscillate = { direction = [1, 0], amplitude = 1, frequency = \"60 rpm\" } }"),
        "error: `frequency = \"60 rpm\"` is in rpm, a frequency in cycles (Hz) was expected\n  hopper.toml:28:73, in \
         [[wall]] \"hopper\"; write cycles per second, as `2 Hz`",
    );
}

#[test]
fn wrong_kinds_choices_and_bounds_are_told() {
    assert_error(
        &with("planar  = true", "planar = 1"),
        "error: `planar = 1` is a whole number, true or false was expected\n  hopper.toml:2:10",
    );
    assert_error(
        &with("\"hooke\"", "\"hook\""),
        "error: unknown law `hook` in normal\n  hopper.toml:16:22, in [contact.disc-disc]: `law = \"hook\"`; known \
         choices: hooke, hertz, power, overlap, chang, walton-braun, sadd, luding, thornton, jkr, thornton-ning, twelve-six, langston \
         (did you mean `hooke`?)",
    );
    assert_error(
        &with("friction = 0.33", "friction = -0.33"),
        "error: `friction = -0.33` must not be negative\n  hopper.toml:21:93, in [contact.disc-steel]",
    );
    assert_error(
        &with("gravity = [0, \"-9.8 m/s^2\"]", "gravity = \"down\""),
        "error: `gravity = \"down\"` is a text, a vector of 2 or 3 numbers was expected\n  hopper.toml:3:11",
    );
    assert_error(
        &with("planar  = true", "planar = false"),
        "error: `gravity = [0, \"-9.8 m/s^2\"]` has 2 components in a scene that is not planar\n  hopper.toml:3:11; \
         add the third, or set `planar = true`",
    );
    assert_error(
        &with("between = [2, 3]", "between = [2, 3, 4]"),
        "error: `between = [2, 3, 4]` has 3 entries, 2 were expected\n  hopper.toml:27:24, in [[wall]] \"hopper\"",
    );
    assert_error(
        &with("count = 500", "count = 12.5"),
        "error: `count = 12.5` must be a whole number, zero or more\n  hopper.toml:33:48, in [[grains]] \"bed\"",
    );
    assert_error(
        &with("below = { y = \"-20 mm\" }", "below = -0.02"),
        "error: `below = -0.02` is a number, a table was expected\n  hopper.toml:46:9, in [[remove]] 0",
    );
}

#[test]
fn keys_that_are_missing_or_exclude_each_other_are_told() {
    assert_error(
        &with("name     = \"bed\"\n", ""),
        "error: `name` is missing\n  hopper.toml:29:1, in [[grains]] 0; for example `name = \"bed\"`",
    );
    assert_error(
        &with("law = \"hooke\",  stiffness = \"1e6 N/m\"", "stiffness = \"1e6 N/m\""),
        "error: `law` is missing in normal\n  hopper.toml:16:14, in [contact.disc-disc]: \
         `normal = { stiffness = \"1e6 N/m\", damping = \"1e3 N s/m\" }`; for example `law = \"hooke\"`",
    );
    assert_error(
        &with("gap      =", "segment = [[0, 0], [1, 0]]\ngap ="),
        "error: `segment` and `polyline` exclude each other\n  hopper.toml:26:12, in [[wall]] \"hopper\": \
         `polyline = [[\"-width/2\", \"0.8 m\"], [\"-width/2\", 0.19], [\"-orifice/2\", 0]…`; give one of plane, \
         segment, polyline, disc, box, cylinder, cone, sphere, triangle, mesh",
    );
    assert_error(
        &with("below = { y = \"-20 mm\" }", "name = \"out\""),
        "error: exactly one of below, above, inside, outside is needed\n  hopper.toml:45:1, in [[remove]] \"out\"",
    );
    assert_error(
        &with("count = 500", "count = 500, spacing = 0.01"),
        "error: `spacing` has no meaning with `method = \"drop-and-roll\"`\n  hopper.toml:33:63, in [[grains]] \"bed\": \
         `spacing = 0.01`; known keys: method, count, mass, fraction, region, tries",
    );
    assert_error(
        &with("method = \"drop-and-roll\", count = 500", "method = \"at\""),
        "error: `positions` is missing in fill\n  hopper.toml:33:12, in [[grains]] \"bed\": `fill = { method = \
         \"at\" }`; for example `positions = [[0, 0, 0], [0, 0, \"20 mm\"]]`",
    );
    assert_error(
        &with("duration = \"5 s\"\n", ""),
        "error: at least one of duration, until is needed\n  hopper.toml:40:1, in [[stage]] \"discharge\"",
    );
}

#[test]
fn expressions_are_told_at_their_very_place() {
    assert_error(
        &with("\"-orifice/2\"", "\"-orifce/2\""),
        "error: unknown name `orifce`\n  hopper.toml:26:59, in [[wall]] \"hopper\": `polyline = [[\"-width/2\", \"0.8 \
         m\"], [\"-width/2\", 0.19], [\"-orifce/2\", 0],…`; known variables: width, orifice (did you mean \
         `orifice`?)",
    );
    assert_error(
        &with("\"20 ms\"", "\"20 msec\""),
        "error: unknown unit `msec`\n  hopper.toml:49:14, in [output]: `frames = \"20 msec\"`; did you mean `ms`?",
    );
    assert_error(
        &with("opening ${orifice}", "opening ${orifces}"),
        "error: unknown variable `orifces`\n  hopper.toml:1:11: `title = \"Hopper with 500 discs, opening \
         ${orifces}\"`; known variables: width, orifice (did you mean `orifice`?)",
    );
}

#[test]
fn syntax_errors_take_the_same_form() {
    assert_error(
        "planar = true\ngravity = [0, \n\n[let]\n",
        "error: this is not TOML: unclosed array, expected `]`\n  hopper.toml:4:6: `[let]`",
    );
    assert_error("seed = 7\nseed = 8\n", "error: this is not TOML: duplicate key\n  hopper.toml:2:1: `seed = 8`");
}

#[test]
fn the_first_error_in_the_file_is_told_first_and_check_tells_all() {
    let text = "seed = -1\n[[wall]]\nname = 3\n[output]\nframes = \"1 m\"\n[material]\nx = 1\n[[wall]]\nnmae = 1\n";
    let errors = check(text, "a.toml", &[]).unwrap_err();
    let lines: Vec<usize> = errors
        .iter()
        .map(|error| match error.details().origin {
            Origin::File { line, .. } => line,
            Origin::Override { .. } => 0,
        })
        .collect();
    assert_eq!(lines, [1, 2, 2, 3, 5, 7, 8, 8, 8, 9]);
}

#[test]
fn variables_may_use_each_other_in_any_order() {
    let text = "depth = \"c\"\n[let]\nc = \"a + 2*${b}\"\nb = \"a/2\"\na = \"10 mm\"\nn = 3\n";
    let scene = scene(text, &[]);
    assert_eq!(scene.depth.unwrap().value, 0.02);
    assert_eq!(scene.variables.len(), 4);
}

#[test]
fn mistakes_in_variables_are_told_once() {
    assert_error(
        "depth = \"a\"\n[let]\na = \"b\"\nb = \"2*c\"\nc = \"a + b\"\n",
        "error: the variable `a` depends on itself: a -> b -> c -> a\n  hopper.toml:3:5, in [let]: `a = \"b\"`",
    );
    assert_error(
        "depth = \"a\"\n[let]\na = \"2 mmm\"\n",
        "error: unknown unit `mmm`\n  hopper.toml:3:8, in [let]: `a = \"2 mmm\"`; did you mean `mm`?",
    );
    assert_error(
        "[let]\nhalf-width = 1\n",
        "error: `half-width` cannot be the name of a variable\n  hopper.toml:2:14, in [let]: `half-width = 1`; `-` would \
         be a minus in expressions; write `half_width`",
    );
    assert_error(
        "[let]\nsin = 1\n",
        "error: `sin` is a function or constant and cannot be a variable\n  hopper.toml:2:7, in [let]: `sin = 1`",
    );
    assert_error(
        "[let]\na = true\n",
        "error: `a = true` must be a finite number, or a text with a unit\n  hopper.toml:2:5, in [let]",
    );
}

#[test]
fn overrides_reach_every_value_by_name_or_index() {
    let scene = scene(
        HOPPER,
        &[
            "let.orifice=0.1",
            "stage.1.duration=2 s",
            "stage.settle.until.kinetic-energy=1e-9",
            "material.disc.density=\"1000 kg/m^2\"",
            "wall.hopper.material=disc",
            "material.steel.friction=.5",
            "contact.default.end=geometric",
            "solver.step=1 us",
            "gravity.1=-1.6",
            "output.probe.wall-load.name=load",
            "planar = true",
        ],
    );
    let RawGeometry::Polyline { points, .. } = &scene.walls[0].geometry.value else { panic!() };
    assert_eq!(points[3].x, 0.05);
    assert_eq!(scene.stages[1].duration.unwrap().value, 2.0);
    assert_eq!(scene.stages[0].until.as_ref().unwrap().kinetic_energy.unwrap().value, 1e-9);
    assert_eq!(scene.materials[0].density.unwrap().value.value, 1000.0);
    assert_eq!(scene.walls[0].material.value, "disc");
    assert_eq!(scene.materials[1].friction.unwrap().value, 0.5);
    assert_eq!(scene.solver.as_ref().unwrap().step.unwrap().value, RawStep::Given(1e-6));
    assert_eq!(scene.gravity.unwrap().value.y, -1.6);
    assert_eq!(scene.output.as_ref().unwrap().probes[1].name.value, "load");

    // The text as used is a scene by itself, with the same values and with its comments.
    let text = scene.normalised_text();
    assert!(text.contains("# the silo") && text.contains("orifice = 0.1"), "{text}");
    let again = read(&text, "again.toml", &[]).unwrap();
    assert_eq!(again.gravity.unwrap().value, scene.gravity.unwrap().value);
    assert_eq!(again.walls[0].material.value, "disc");
    assert_eq!(again.materials[1].friction.unwrap().value, 0.5);
    assert_eq!(again.normalised_text(), text);
}

#[test]
fn errors_of_overrides_name_the_override() {
    let cases = [
        ("seed", "error: an override is written `path=value`\n  --set seed"),
        ("a b=1", "error: the path is not names joined by dots\n  --set a b=1"),
        (
            "material.disc.density=5 m",
            "error: `density = \"5 m\"` is a length, a density (kg/m^3) or a density per area (kg/m^2) was expected\n  \
             --set material.disc.density=5 m, in [material.disc]",
        ),
        (
            "material.disc.densty=5",
            "error: unknown key `densty`\n  --set material.disc.densty=5, in [material.disc]; known keys: density, \
             youngs-modulus, poisson-ratio, friction, restitution (did you mean `density`?)",
        ),
        (
            "wall.hoper.material=glass",
            "error: `wall` has no entry named `hoper`\n  --set wall.hoper.material=glass; known names: hopper (did you \
             mean `hopper`?)",
        ),
        (
            "stage.7.duration=1 s",
            "error: `stage` has 2 entries, so no number 7; the first is 0\n  --set stage.7.duration=1 s",
        ),
        ("feed.in.rate=1", "error: the scene has no [[feed]]\n  --set feed.in.rate=1"),
        ("seed.x=1", "error: `seed` is no table or list, so it has no `x`\n  --set seed.x=1"),
        ("stage.0=1", "error: one of 2 tables cannot be replaced as a whole; name a key of it\n  --set stage.0=1"),
        (
            "let.orifce=1",
            "error: the scene has no variable `orifce`\n  --set let.orifce=1; known variables: width, orifice (did you \
             mean `orifice`?)",
        ),
        (
            "material.dics.density=5",
            "error: the scene has no material `dics`\n  --set material.dics.density=5; known materials: disc, steel (did \
             you mean `disc`?)",
        ),
        (
            "material.glass={ density = 5 }",
            "error: the scene has no material `glass`\n  --set material.glass={ density = 5 }; known materials: disc, \
             steel",
        ),
        ("let.width=2 mmm", "error: unknown unit `mmm`\n  --set let.width=2 mmm, in [let]; did you mean `mm`?"),
        ("gravity.1=1 m", "error: `1 = \"1 m\"` is a length, an acceleration was expected\n  --set gravity.1=1 m"),
    ];
    for (text, expected) in cases {
        let error = read(HOPPER, "hopper.toml", &set(&[text])).err().unwrap_or_else(|| panic!("accepted {text}"));
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn force_fields_are_compiled_with_the_variables_put_in() {
    let text = "let.k = \"5 kN/m\"\n[[field]]\nexpression = { force = [\"-${k}*x - m*9.8\", \"0\", \"sin(t)\"] }\n";
    let scene = scene(text, &[]);
    let RawFieldKind::Expression { force } = &scene.fields[0].kind else { panic!() };
    assert_eq!(force[0].eval(&[0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01, 2.0]), -500.0 - 19.6);
    // A program survives as its text.
    let kept = serde_json::to_string(&force[0].value).unwrap();
    assert_eq!(serde_json::from_str::<esker::expression::Program>(&kept).unwrap(), force[0].value);
    assert!(serde_json::from_str::<esker::expression::Program>(&kept.replace("9.8", "9.8 +")).is_err());
    assert_error(
        "[[field]]\nexpression = { force = [\"-k*x\", \"0\", \"0\"] }\n",
        "error: unknown name `k`\n  hopper.toml:2:27, in [[field]] 0: `force = [\"-k*x\", \"0\", \"0\"]`; known variables: \
         x, y, z, vx, vy, vz, t, r, m",
    );
}

#[test]
fn deeply_nested_and_long_texts_end_in_errors() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{ b = ".repeat(100_000)),
        format!("{} = 1", vec!["a"; 50_000].join(".")),
        format!("[{}]", vec!["material"; 50_000].join(".")),
        format!("depth = \"{}\"", "(".repeat(100_000)),
        format!("[let]\n{}", (0..2000).map(|i| format!("a{i} = \"a{}\"\n", i + 1)).collect::<String>()),
    ] {
        assert!(read(&text, "deep.toml", &[]).is_err());
    }
    let path = vec!["a"; 50_000].join(".");
    assert!(read("", "a.toml", &[format!("{path}=1")]).is_err());
    assert!(read("", "a.toml", &[format!("let.a={}", "[".repeat(100_000))]).is_err());
}

#[test]
fn a_chain_of_many_variables_is_followed() {
    let chain: String = (0..3000).map(|i| format!("a{i} = \"a{} + 1 mm\"\n", i + 1)).collect();
    let scene = scene(&format!("depth = \"a0\"\n[let]\n{chain}a3000 = 0\n"), &[]);
    assert!((scene.depth.unwrap().value - 3.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}", change in "\\PC{0,40}") {
        let _ = check(&text, "any.toml", &[]);
        let _ = check(HOPPER, "any.toml", &[change]);
    }

    /// A scene with a piece cut out and another put in comes much nearer to the reader's own code.
    #[test]
    fn damaged_scenes_never_panic(from in 0..HOPPER.len(), length in 0usize..40, to in 0..HOPPER.len(), change in 0usize..8) {
        let piece = |start: usize| HOPPER.get(start..(start + length).min(HOPPER.len())).unwrap_or_default();
        let text = HOPPER.replacen(piece(from), piece(to), 1);
        let changes = ["let.width=[1]", "wall.0.polyline.0.0=x", "stage.0.until=5", "stage=3", "material.disc=7",
            "wall.hopper.gap.name={}", "planar=false", "grains.bed.radius.normal=[[]]"];
        if let Err(errors) = check(&text, "damaged.toml", &[changes[change].to_string()]) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert_eq!(error.to_string().lines().count(), 2, "{}", error);
            }
        }
    }
}
