//! Contact laws as scenes write them: what is built, what is refused, and every combination of slots run for a while.

use esker::impact::Impact;
use esker::law::collision::{Collision, Curve, Restitution};
use esker::law::normal::{AnyNormal, Displacement, Region};
use esker::law::tangential::{AnyTangential, Rule, Stiffness, TangentialDamping};
use esker::law::{ContactEnd, Law, cohesion::AnyCohesion, damping::AnyDamping};
use esker::measure::energy;
use esker::simulation::Simulation;
use esker_io::build::presets::PUBLISHED;
use esker_io::build::{self, Scene};
use esker_io::scene;
use esker_io::scene::choice::{Choice, Preset};
use std::fmt::Write;
use std::path::Path;

/// Two grains, or discs, that are about to meet obliquely.
fn scene(contact: &str, planar: bool) -> Result<Scene, String> {
    let place = |x: &str| if planar { format!("[[{x}, 0]]") } else { format!("[[{x}, 0, 0]]") };
    let velocity = if planar { "[\"-0.1 m/s\", \"0.05 m/s\"]" } else { "[\"-0.1 m/s\", \"0.05 m/s\", 0]" };
    let grains = |name: &str, velocity: &str, x: &str| {
        format!(
            "[[grains]]\nname = \"{name}\"\nmaterial = \"glass\"\nradius = \"5 mm\"\n{velocity}\n\
             fill = {{ method = \"at\", positions = {} }}\n",
            place(x)
        )
    };
    let text = format!(
        "title = \"pair\"\n{}[material.glass]\ndensity = 2500\nyoungs-modulus = \"10 MPa\"\npoisson-ratio = 0.25\n\
         [contact.default]\n{contact}\n{}{}[[stage]]\nname = \"impact\"\nduration = 1\n",
        if planar { "planar = true\n" } else { "" },
        grains("target", "", "0"),
        grains("shot", &format!("velocity = {velocity}"), "\"12.1 mm\""),
    );
    let raw = scene::read(&text, "pair.toml", &[]).map_err(|e| e.to_string())?;
    build::build(&raw, Path::new(".")).map_err(|e| e.to_string())
}

fn law(contact: &str, planar: bool) -> Law {
    let scene = scene(contact, planar).unwrap_or_else(|e| panic!("{contact}: {e}"));
    *scene.stages[0].model.laws.law(0, 0)
}

#[track_caller]
fn refused(contact: &str, says: &str) {
    match scene(contact, false) {
        Ok(_) => panic!("{contact} is accepted"),
        Err(message) => assert!(message.contains(says), "{contact}: {message}"),
    }
}

const NORMAL: [(&str, &str); 13] = [
    ("hooke", "stiffness = \"1e4 N/m\""),
    ("hertz", ""),
    ("power", "exponent = 1.3"),
    ("overlap", "coefficient = 1e9"),
    ("chang", "modulus = \"1 MPa\""),
    ("walton-braun", "stiffness = \"1e4 N/m\", restitution = 0.7"),
    ("sadd", "coefficient = 1e6, exponent = 1.4, restitution = 0.7"),
    ("luding", "stiffness = \"1e4 N/m\", restitution = 0.7, adhesion-stiffness = \"1e3 N/m\""),
    ("thornton", "yield-pressure = \"0.1 MPa\""),
    ("jkr", "work = \"0.1 J/m^2\""),
    ("twelve-six", "energy = \"1e-4 J\""),
    ("langston", "force = \"0.05 N\", exponent = 36"),
    ("thornton-ning", "yield-pressure = \"0.1 MPa\", work = \"0.1 J/m^2\""),
];
const DASHPOTS: [(&str, &str); 6] = [
    ("kuwabara-kono", "viscosity = \"10 Pa s\""),
    ("viscoelastic", "time = \"1 us\""),
    ("hunt-crossley", "factor = \"0.3 s/m\""),
    ("lankarani-nikravesh", "restitution = 0.8"),
    ("power", "coefficient = 100, overlap-exponent = 0.5"),
    ("overlap-rate", "coefficient = 1e4"),
];
const COHESION: [(&str, &str); 4] = [
    ("none", ""),
    ("dmt", "work = \"0.1 J/m^2\""),
    ("kohring", "work = \"0.1 J/m^2\""),
    ("capillary", "tension = \"0.07 N/m\", volume = \"1e-11 m^3\""),
];
const TANGENTIAL: [(&str, &str); 8] = [
    ("none", ""),
    ("spring", "friction = 0.4"),
    ("mindlin", "friction = 0.4"),
    ("dashpot", "friction = 0.4, rate = \"100 1/s\""),
    ("walton-braun", "friction = 0.4"),
    ("mindlin-deresiewicz", "friction = 0.4"),
    ("langston", "friction = 0.4, compliance = \"1e-5 m/N\""),
    ("literal", "friction = 0.4"),
];

fn table(slot: &str, (law, keys): (&str, &str)) -> String {
    let keys = if keys.is_empty() { String::new() } else { format!(", {keys}") };
    format!("{slot} = {{ law = \"{law}\"{keys} }}\n")
}

#[test]
fn every_law_of_a_scene_is_the_law_of_the_engine() {
    let normal = |k: usize, planar: bool| law(&table("normal", NORMAL[k]), planar).normal;
    assert!(matches!(normal(2, false), AnyNormal::Power(p) if p.exponent == 1.3));
    assert!(matches!(normal(3, false), AnyNormal::Overlap(o) if o.of == Region::Volume));
    assert!(matches!(normal(3, true), AnyNormal::Overlap(o) if o.of == Region::Area));
    assert!(matches!(normal(4, true), AnyNormal::Chang(c) if c.displacement == Displacement::OfOne && c.depth == 1.0));
    let unloading = 1e4 / 0.49;
    assert!(matches!(normal(5, false), AnyNormal::WaltonBraun(w) if (w.unloading - unloading).abs() < 1e-6));
    assert!(matches!(normal(7, false), AnyNormal::Luding(l) if l.adhesion == 1e3 && l.loading == 1e4));
    // E* = E/2(1 − ν²) of equal materials.
    let e_star = 0.5e7 / (1.0 - 0.0625);
    assert!(matches!(normal(8, false), AnyNormal::Thornton(t) if (t.effective_modulus - e_star).abs() < 1.0));
    assert!(
        matches!(normal(9, false), AnyNormal::Jkr(j) if j.work == 0.1 && (j.effective_modulus - e_star).abs() < 1.0)
    );
    assert!(matches!(normal(11, false), AnyNormal::Langston(l) if l.cutoff == 1.2 && l.force == 0.05));
    assert!(matches!(normal(12, false), AnyNormal::ThorntonNing(t) if t.work == 0.1 && t.yield_pressure == 1e5));
    let hooke = law("normal = { law = \"hooke\", stiffness = 1e4, dynamic-ratio = 1.5 }", false);
    assert!(matches!(hooke.normal, AnyNormal::Hooke(h) if h.stiffness == 1.5e4));

    let dashpot = |k: usize| law(&table("dashpot", DASHPOTS[k]), false).damping;
    assert!(matches!(dashpot(0), AnyDamping::KuwabaraKono(d) if d.viscosity == 10.0));
    assert!(matches!(dashpot(1), AnyDamping::Viscoelastic(d) if d.time == 1e-6));
    assert!(matches!(dashpot(3), AnyDamping::LankaraniNikravesh(d) if d.slowest == 1e-3));
    assert!(matches!(dashpot(5), AnyDamping::OverlapRate(d) if d.of == Region::Volume));
    let kohring = law(&table("cohesion", COHESION[2]), false).cohesion;
    assert!(matches!(kohring, AnyCohesion::Kohring(k) if (k.effective_modulus - e_star).abs() < 1.0));
    let tangential = |k: usize| law(&table("tangential", TANGENTIAL[k]), false).tangential;
    assert!(matches!(tangential(4), AnyTangential::PartialSlip(p)
        if p.rule == Rule::WaltonBraun && p.stiffness == Stiffness::Ratio(2.0 / 7.0)));
    // 8 G*/2 E* of equal materials: 2(1 − ν)/(2 − ν).
    assert!(matches!(tangential(5), AnyTangential::PartialSlip(p)
        if p.rule == Rule::Mindlin && matches!(p.stiffness, Stiffness::Ratio(r) if (r - 1.5 / 1.75).abs() < 1e-12)));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    refused("normal = { law = \"chang\", modulus = 1e6 }", "a law of cylinders");
    refused("normal = { law = \"walton-braun\", stiffness = 1e4 }", "say what is lost");
    refused(
        "normal = { law = \"walton-braun\", stiffness = 1e4, unloading-stiffness = 1e3 }",
        "would give back more than loading took",
    );
    refused("normal = { law = \"luding\", stiffness = 1e4, restitution = 1 }", "stiffer than loading");
    refused("normal = { law = \"sadd\", coefficient = 1e6, exponent = 1.4, damping = 3 }", "has no meaning");
    refused("normal = { law = \"jkr\" }", "work");
    refused("normal = { law = \"langston\", force = 1, exponent = 36, cutoff = 0.9 }", "above 1");
    refused("normal = { law = \"power\", exponent = 1.3, modulus = 1e7, coefficient = 1e6 }", "coefficient");
    let lossy = table("normal", NORMAL[5]);
    refused(&(lossy + &table("dashpot", DASHPOTS[1])), "count the loss twice");
    refused(
        "normal = { law = \"hertz\", restitution = 0.9 }\ndashpot = { law = \"viscoelastic\", time = 1e-6 }",
        "leave one",
    );
    refused(&(table("normal", NORMAL[9]) + &table("cohesion", COHESION[1])), "count the attraction twice");
    refused("cohesion = { law = \"capillary\", tension = 0.07, volume = 1e-11, angle = 2 }", "does not wet");
    refused(
        &(table("normal", NORMAL[0]) + &table("tangential", TANGENTIAL[5])),
        "`hertz`, `jkr`, `thornton` and `thornton-ning`",
    );
    refused("tangential = { law = \"walton-braun\", friction = 0.4, exponent = 1 }", "below 1");
    refused(
        "twisting = { law = \"marshall\" }\ntangential = { law = \"dashpot\", friction = 0.3, rate = 1 }",
        "stiffness-ratio",
    );
}

/// What a scene gives beside each preset, in their order: normal, tangential; nothing where nothing is open.
const OPEN: [(&str, &str); 15] = [
    ("", ""),
    ("law = \"walton-braun\", stiffness = 1e4, restitution = 0.7", "law = \"walton-braun\", friction = 0.4"),
    ("law = \"walton-braun\", restitution = 0.7", "law = \"walton-braun\", friction = 0.4"),
    ("law = \"power\", coefficient = 1e6", "law = \"walton-braun\", friction = 0.4"),
    ("law = \"sadd\", coefficient = 1e6, exponent = 1.4, restitution = 0.7", "law = \"walton-braun\", friction = 0.4"),
    ("law = \"chang\", modulus = 1e6", "law = \"walton-braun\", friction = 0.4"),
    ("law = \"langston\", force = 0.05", "law = \"langston\", compliance = 1e-5, friction = 0.4"),
    ("law = \"langston\", force = 0.05", "law = \"langston\", compliance = 1e-5, friction = 0.4"),
    ("law = \"langston\", force = 0.05", "law = \"langston\", compliance = 1e-5, friction = 0.4"),
    ("law = \"hooke\", stiffness = 1e4, rate = 100", "law = \"dashpot\", rate = 20, friction = 0.4"),
    ("law = \"walton-braun\", stiffness = 1e4, restitution = 0.7", "law = \"spring\", friction = 0.4"),
    ("law = \"hooke\", stiffness = 1e4, restitution = 0.7", "law = \"spring\", friction = 0.4"),
    ("law = \"hooke\", stiffness = 1e4, restitution = 0.7", ""),
    ("law = \"hooke\", stiffness = 1e4, restitution = 0.7", ""),
    ("law = \"twelve-six\", energy = 1e-4", "law = \"dashpot\", rate = 20"),
];

fn preset(k: usize, completed: bool) -> String {
    let word = PUBLISHED[k].preset.word();
    let mut text = format!("preset = \"{word}\"\n");
    for (slot, keys) in [("normal", OPEN[k].0), ("tangential", OPEN[k].1)] {
        if completed && !keys.is_empty() {
            text += &format!("{slot} = {{ {keys} }}\n");
        }
    }
    text
}

#[test]
fn presets_are_the_published_laws_and_run() {
    assert_eq!(PUBLISHED.len(), Preset::WORDS.len());
    let laws: Vec<Law> = (0..PUBLISHED.len())
        .map(|k| {
            assert_eq!(PUBLISHED[k].preset.word(), Preset::WORDS[k].0, "one order");
            let planar = PUBLISHED[k].preset == Preset::Chang1989;
            outcome(&preset(k, true), planar).unwrap_or_else(|e| panic!("{}: {e}", Preset::WORDS[k].0));
            law(&preset(k, true), planar)
        })
        .collect();
    let of = |preset: Preset| laws[PUBLISHED.iter().position(|p| p.preset == preset).unwrap()];
    let report = of(Preset::DziugysPeters1998);
    assert!(
        matches!(report.normal, AnyNormal::ScaledHooke(h) if h.modulus == 5e5) && report.end == ContactEnd::Geometric
    );
    assert!(matches!(report.damping, AnyDamping::PerMass(d) if d.rate == 100.0));
    assert!(matches!(report.tangential, AnyTangential::Dashpot(d)
        if d.friction == 100.0 && d.damping == TangentialDamping::PerMass(20.0)));
    let partial = |preset: Preset| match of(preset).tangential {
        AnyTangential::PartialSlip(p) if p.rule == Rule::WaltonBraun => (p.stiffness, p.exponent),
        other => panic!("{other:?}"),
    };
    assert!(matches!(of(Preset::WaltonBraun1986).normal, AnyNormal::WaltonBraun(w) if w.loading == 1e4));
    assert_eq!(partial(Preset::WaltonBraun1986).1, 1.0 / 3.0);
    // T-04: K_t0 = 0.8 K_1, K_1 = 10⁶ N/m.
    assert!(matches!(of(Preset::LanRosato).normal, AnyNormal::WaltonBraun(w) if w.loading == 1e6));
    assert_eq!(partial(Preset::LanRosato), (Stiffness::Given(0.8e6), 1.0 / 3.0));
    // T-03.
    assert!(matches!(of(Preset::Sadd1993).normal, AnyNormal::Power(p) if p.exponent == 1.4));
    assert!(matches!(of(Preset::Sadd1993Hysteresis).normal, AnyNormal::Sadd(_)));
    assert_eq!(partial(Preset::Sadd1993), (Stiffness::Given(5e5), 0.3));
    assert_eq!(partial(Preset::Sadd1993Hysteresis), (Stiffness::Given(5e5), 0.3));
    // T-05 with Ψ = 1.
    assert!(matches!(of(Preset::Chang1989).normal, AnyNormal::Chang(_)));
    assert_eq!(partial(Preset::Chang1989), (Stiffness::Ratio(1.0), 0.5));
    for (preset, exponent, cutoff) in
        [(Preset::Langston1994, 36.0, 1.8), (Preset::Langston1995, 36.0, 1.2), (Preset::Langston1995Steep, 144.0, 1.2)]
    {
        assert!(matches!(of(preset).normal, AnyNormal::Langston(l) if (l.exponent, l.cutoff) == (exponent, cutoff)));
        assert!(matches!(of(preset).tangential, AnyTangential::Langston(_)));
    }
    // T-10 to T-15: spring, dashpot, limit.
    assert!(matches!(of(Preset::PoschelBuchholtz1993).tangential, AnyTangential::Dashpot(d) if d.friction == 0.4));
    assert!(matches!(of(Preset::Khakhar1997).tangential, AnyTangential::Spring(s)
        if s.damping == TangentialDamping::Coefficient(0.0) && s.friction == 0.4));
    assert!(matches!(of(Preset::CundallStrack1979).tangential, AnyTangential::Spring(s)
        if s.damping == TangentialDamping::Ratio(1.0) && s.friction == 0.4));
    assert!(matches!(of(Preset::LeeHerrmann).tangential, AnyTangential::Spring(s) if s.friction == 1e9));
    assert!(matches!(of(Preset::Taguchi1992).tangential, AnyTangential::Spring(s)
        if s.stiffness == Stiffness::Ratio(1.0) && s.damping == TangentialDamping::Ratio(1.0) && s.friction == 1e9));
    assert!(matches!(of(Preset::Akiyama1996).normal, AnyNormal::TwelveSix(_)));
    assert!(matches!(of(Preset::Akiyama1996).tangential, AnyTangential::Dashpot(d) if d.friction == 1e9));
}

#[test]
fn presets_demand_what_was_not_published_and_yield_to_what_is_given() {
    for k in 1..PUBLISHED.len() {
        let planar = PUBLISHED[k].preset == Preset::Chang1989;
        let word = PUBLISHED[k].preset.word();
        match scene(&preset(k, false), planar) {
            Ok(_) => panic!("{word} is complete"),
            Err(said) => {
                assert!(said.contains("needs") || said.contains("missing") || said.contains("say what"), "{said}")
            }
        }
    }
    refused("preset = \"lan_rosatto\"", "lan_rosato");
    refused("preset = \"lan_rosatto\"", "dziugys_peters_1998");
    // A table of the same law completes and overrides, one of another law replaces.
    let soft = law("preset = \"dziugys_peters_1998\"\nnormal = { law = \"hooke\", modulus = 2e5 }", false);
    assert!(matches!(soft.normal, AnyNormal::ScaledHooke(h) if h.modulus == 2e5));
    assert!(matches!(soft.damping, AnyDamping::PerMass(d) if d.rate == 100.0));
    let other = law("preset = \"dziugys_peters_1998\"\nnormal = { law = \"hertz\" }\nend = \"no-tension\"", false);
    assert!(matches!(other.normal, AnyNormal::Hertz(_)) && other.end == ContactEnd::NoTension);
    assert!(matches!((other.damping, other.tangential), (AnyDamping::None, AnyTangential::Dashpot(_))));
    refused(
        "preset = \"dziugys_peters_1998\"\ndashpot = { law = \"viscoelastic\", time = 1e-6 }",
        "needs `normal` beside it",
    );
}

#[test]
fn a_pair_comes_before_the_default_with_its_table_and_with_its_preset() {
    let default = "normal = { law = \"hertz\" }\ndashpot = { law = \"viscoelastic\", time = 1e-6 }\n\
                   tangential = { law = \"spring\", friction = 0.1 }\n[contact.glass-glass]\n";
    let pair = law(&format!("{default}preset = \"dziugys_peters_1998\""), false);
    assert!(matches!(pair.normal, AnyNormal::ScaledHooke(h) if h.modulus == 5e5), "{pair:?}");
    assert!(matches!(pair.damping, AnyDamping::PerMass(d) if d.rate == 100.0), "{pair:?}");
    assert!(matches!(pair.tangential, AnyTangential::Dashpot(d) if d.friction == 100.0), "{pair:?}");
    assert_eq!(pair.end, ContactEnd::Geometric);
    // What the pair's preset leaves open is the default's; what the pair gives is its own.
    let pair = law(
        &format!(
            "{default}preset = \"poschel_buchholtz_1993\"\ntangential = {{ law = \"dashpot\", rate = 5, friction = 0.2 }}"
        ),
        false,
    );
    assert!(matches!((pair.normal, pair.damping), (AnyNormal::Hertz(_), AnyDamping::Viscoelastic(_))), "{pair:?}");
    assert!(matches!(pair.tangential, AnyTangential::Dashpot(d) if d.friction == 0.2), "{pair:?}");
    // A dashpot of the default does not join the normal law of a pair's preset, completed or not.
    let pair = law(
        &format!(
            "{default}preset = \"lan_rosato\"\nnormal = {{ law = \"walton-braun\", restitution = 0.8 }}\ntangential = {{ law = \"walton-braun\", friction = 0.3 }}"
        ),
        false,
    );
    assert!(matches!((pair.normal, pair.damping), (AnyNormal::WaltonBraun(_), AnyDamping::None)), "{pair:?}");
    let pair =
        law(&format!("{default}preset = \"lee_herrmann\"\nnormal = {{ law = \"hooke\", stiffness = 1e4 }}"), false);
    assert!(matches!((pair.normal, pair.damping), (AnyNormal::Hooke(_), AnyDamping::None)), "{pair:?}");
    // A pair's table completes a preset of the default.
    let default =
        "preset = \"lan_rosato\"\nnormal = { law = \"walton-braun\", restitution = 0.8 }\n[contact.glass-glass]\n";
    let pair = law(&format!("{default}tangential = {{ law = \"walton-braun\", friction = 0.3 }}"), false);
    assert!(
        matches!(pair.tangential, AnyTangential::PartialSlip(t) if t.stiffness == Stiffness::Given(8e5)),
        "{pair:?}"
    );
}

fn collision(contact: &str) -> Collision {
    let scene = scene(contact, false).unwrap_or_else(|e| panic!("{contact}: {e}"));
    *scene.stages[0].model.collisions.law(0, 0)
}

#[test]
fn collisions_are_as_given_or_as_the_soft_law_has_them() {
    let given = collision("collision = { restitution = 0.98, friction = 0.3, tangential-restitution = 0.4 }");
    assert_eq!(
        given,
        Collision { restitution: Restitution::Constant(0.98), friction: 0.3, tangential_restitution: 0.4 }
    );
    // Nothing said: elastic and smooth, as the soft law is.
    assert_eq!(collision(""), Collision::smooth(1.0));
    let constant = |contact: &str, e: f64| match collision(contact).restitution {
        Restitution::Constant(is) => assert!((is - e).abs() < 1e-14, "{contact}: {is}"),
        other => panic!("{contact}: {other:?}"),
    };
    constant("normal = { law = \"hooke\", stiffness = 1e4, restitution = 0.7 }\nend = \"geometric\"", 0.7);
    constant("normal = { law = \"hertz\", restitution = 0.7 }\ncollision = { friction = 0.2 }", 0.7);
    constant("normal = { law = \"hertz\", restitution = 0.7 }\ncollision = { restitution = 0 }", 0.0);
    constant("normal = { law = \"walton-braun\", stiffness = 1e4, restitution = 0.7 }", 0.7);
    let e_star = 0.5e7 / (1.0 - 0.0625);
    for contact in [
        "dashpot = { law = \"viscoelastic\", time = \"2 us\" }",
        "collision = { law = \"viscoelastic\", time = \"2 us\" }",
        "collision = { law = \"viscoelastic\", time = \"2 us\", modulus = 5.333333333333333e6 }",
    ] {
        match collision(contact).restitution {
            Restitution::Viscoelastic(law) => {
                assert!(law.time == 2e-6 && (law.modulus - e_star).abs() < 1e-6, "{contact}: {law:?}")
            }
            other => panic!("{contact}: {other:?}"),
        }
    }
    // Of grains with the mean radius.
    let thornton = table("normal", NORMAL[8]);
    let law = law(&thornton, false);
    let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 5e-3f64.powi(3);
    let beads =
        Impact { law, curvature: [200.0; 2], effective_mass: 0.5 * mass, turning: 1.0, approach: 1.0, slip: 0.0 };
    match collision(&thornton).restitution {
        Restitution::Curve(curve) => {
            let measured = Curve::measure(&beads);
            assert!(curve.knots.iter().zip(measured.knots).all(|(a, b)| (a - b).abs() < 1e-9), "{curve:?}");
            assert!(curve.at(1e-4) > 0.9 && curve.at(1.0) < 0.7, "{curve:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(collision("tangential = { law = \"spring\", friction = 0.4 }").friction, 0.4);
    // A table of the default goes before the soft law of a pair, and one of the pair before both.
    let default =
        "collision = { restitution = 0.9 }\n[contact.glass-glass]\nnormal = { law = \"hertz\", restitution = 0.7 }\n";
    constant(default, 0.9);
    constant(&format!("{default}collision = {{ friction = 0.1 }}"), 0.7);
}

#[test]
fn wrong_collisions_are_refused_with_a_sentence() {
    refused("collision = { restitution = 1.2 }", "must lie between 0 and 1");
    refused("collision = { friction = -0.1 }", "must not be negative");
    refused("collision = { tangential-restitution = 1.5 }", "must lie between -1 (smooth) and 1 (perfectly rough)");
    refused("collision = { tangential-restitution = -2 }", "must lie between -1 (smooth) and 1 (perfectly rough)");
    refused("collision = { restituion = 0.9 }", "unknown key `restituion`");
    refused("collision = { restituion = 0.9 }", "restitution");
    refused("collision = { law = \"plastic\" }", "viscoelastic");
    refused("collision = { law = \"constant\" }", "constant needs `restitution`");
    refused("collision = { law = \"viscoelastic\" }", "`time` is missing");
    refused("collision = { law = \"viscoelastic\", time = 1e-6, restitution = 0.9 }", "has no meaning with");
    refused("collision = { law = \"constant\", restitution = 0.9, time = 1e-6 }", "has no meaning with");
    refused("collision = { time = 1e-6 }", "only with `law = \"viscoelastic\"`");
    refused("collision = { law = \"viscoelastic\", time = \"1 m\" }", "time");
}

#[test]
fn a_tangential_dashpot_without_a_coefficient_is_refused() {
    refused(
        "normal = { law = \"hertz\" }\ntangential = { law = \"dashpot\", friction = 0.5 }",
        "would give no friction at all",
    );
    for zero in ["rate = 0", "damping = 0", "damping-ratio = 0"] {
        refused(
            &format!(
                "normal = {{ law = \"hertz\", restitution = 0.9 }}\ntangential = {{ law = \"dashpot\", friction = 0.5, {zero} }}"
            ),
            "would give no friction at all",
        );
    }
    law("normal = { law = \"hertz\", restitution = 0.9 }\ntangential = { law = \"dashpot\", friction = 0.5 }", false);
}

/// The page of presets.
fn page_of_presets() -> String {
    let mut text = String::from(
        "# Presets\n\nA `preset` of a contact fills slots with published laws and parameters; this page is written by the tests \
         of the program, which build and run every set.\n\n```toml\n[contact.default]\npreset     = \"lan_rosato\"\n\
         normal     = { law = \"walton-braun\", restitution = 0.8 }   # completes the slot\n\
         tangential = { law = \"walton-braun\", friction = 0.3 }\n```\n\n\
         - A table beside a preset that names the same law completes its slot: what it gives takes the place of what was \
         published.\n\
         - One that names another law replaces the slot.\n\
         - What was not published and is not given is asked for, but for the stiffness of tangential springs (2/7 of the normal one) and\n  a tangential dashpot (that of the normal law); friction may come from the materials.\n\
         - Of a pair, its own table comes first, then its own preset, then table and preset of `[contact.default]`.\n\
         - Sets without a limit of friction have one of 1e9, which no contact reaches.\n\n\
         T-02 to T-15 are the numbers of the sets in the digest of the report; equations are those of Džiugys & Peters \
         (1998).\n",
    );
    for p in PUBLISHED {
        let _ = write!(
            text,
            "\n## `{}`\n\n{}.\n\n```toml\n{}```\n\nLeft open: {}.\n",
            p.preset.word(),
            p.source,
            p.contact,
            p.open
        );
    }
    text
}

/// Whether a combination runs; what the reader says otherwise, without its place.
fn outcome(contact: &str, planar: bool) -> Result<(), String> {
    let scene = scene(contact, planar).map_err(|e| {
        // The statement stands in front.
        let line = e.lines().next().unwrap_or_default();
        line.split_once("` ").map_or(line, |(_, reason)| reason).to_string()
    })?;
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    let begin = simulation.state.particles.velocity(1);
    let steps = (40e-3 / simulation.model().dt).ceil() as u64;
    simulation.advance(steps).unwrap_or_else(|e| panic!("{contact}: {e}"));
    let p = &simulation.state.particles;
    let faster = (0..2).map(|i| p.velocity(i).length()).fold(0.0, f64::max);
    // They have met, and gained no speed by it.
    assert!(p.velocity(1).distance(begin) > 0.01 && faster < 0.12, "{contact}: {:?}", p.velocity(1));
    let account = energy::balance(simulation.model(), &simulation.state);
    let kinetic = 0.5 * p.mass[0] * begin.length_squared();
    assert!(account.residual().abs() < 0.02 * kinetic, "{contact}: {:e}", account.residual() / kinetic);
    Ok(())
}

/// The page of combinations.
fn page() -> String {
    let mut text = String::from(
        "# Which laws go together\n\nEvery combination below has been run by the tests of the program; this page is written by \
         them. Any rolling and twisting law goes with any of these, but `marshall`, which takes its stiffness from the \
         tangential law or asks for it. `chang` is for planar scenes.\n",
    );
    let mut reasons: Vec<String> = Vec::new();
    for (heading, slot, choices) in [
        ("Tangential laws", "tangential", TANGENTIAL.as_slice()),
        ("Dashpots", "dashpot", DASHPOTS.as_slice()),
        ("Attraction", "cohesion", COHESION.as_slice()),
    ] {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        let _ = write!(
            text,
            "\n## {heading}\n\n| normal law | {} |\n|---|{}\n",
            names.join(" | "),
            "---|".repeat(names.len())
        );
        for normal in NORMAL {
            let _ = write!(text, "| `{}` |", normal.0);
            for &choice in choices {
                let contact = table("normal", normal) + &table(slot, choice);
                let cell = match outcome(&contact, normal.0 == "chang") {
                    Ok(()) => "yes".to_string(),
                    Err(reason) => {
                        let known = reasons.iter().position(|r| *r == reason).unwrap_or_else(|| {
                            reasons.push(reason);
                            reasons.len() - 1
                        });
                        format!("no ({})", known + 1)
                    }
                };
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
    }
    text += "\nWhat the program says:\n\n";
    for (k, reason) in reasons.iter().enumerate() {
        let _ = writeln!(text, "{}. {reason}", k + 1);
    }
    text
}

#[test]
fn the_page_of_combinations_is_what_runs() {
    is_written("combinations.md", &page());
}

#[test]
fn the_page_of_presets_is_what_is_built() {
    is_written("presets.md", &page_of_presets());
}

fn is_written(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/laws").join(name);
    if std::env::var_os("ESKER_WRITE_PAGES").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "the page is old; write it anew: ESKER_WRITE_PAGES=1 cargo test -p esker-io --test laws");
}
