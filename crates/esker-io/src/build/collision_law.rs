//! The law of hard collisions of a pair of materials.

use super::laws::Pair;
use crate::scene::SceneError;
use crate::scene::choice::{CollisionLaw, TangentialLaw as Sliding};
use crate::scene::raw::RawCollision;
use esker::advice::SizeRange;
use esker::impact::Impact;
use esker::law::Law;
use esker::law::collision::{Collision, Restitution, Viscoelastic};
use esker::law::normal::AnyNormal;
use esker::law::tangential::TangentialLaw;
use esker::model::Kind;

impl Pair<'_> {
    /// The law of hard collisions: what `collision` says, then the soft law, then the materials.
    pub(super) fn collision(
        &self,
        soft: Option<&Law>,
        kinds: &[Kind],
        sizes: &[SizeRange],
    ) -> Result<Collision, SceneError> {
        let raw = self.slot(|c| c.collision.as_ref());
        let restitution = match raw.map(|r| self.given_restitution(r, soft)).transpose()?.flatten() {
            Some(given) => given,
            None => match soft {
                Some(law) => Restitution::of_soft(&self.mean_bodies(law, kinds, sizes)),
                None => self.restitution_of_materials()?,
            },
        };
        let friction = match (raw.and_then(|r| r.friction), soft) {
            (Some(mu), _) => self.context.not_negative(&mu)?,
            (None, Some(law)) => law.tangential.friction(),
            (None, None) => self.friction_without_a_soft_law()?,
        };
        let tangential_restitution = match raw.and_then(|r| r.tangential_restitution) {
            Some(b) if !(-1.0..=1.0).contains(&b.value) => {
                return self.context.wrong(&b, "must lie between -1 (smooth) and 1 (perfectly rough)");
            }
            Some(b) => b.value,
            None => 0.0,
        };
        Ok(Collision { restitution, friction, tangential_restitution })
    }

    /// The restitution of a table `collision`, if it says something of it.
    fn given_restitution(&self, r: &RawCollision, soft: Option<&Law>) -> Result<Option<Restitution>, SceneError> {
        let c = self.context;
        match (r.law.map(|law| law.value), &r.restitution) {
            (Some(CollisionLaw::Viscoelastic), _) => {
                let time = c.not_negative(r.time.as_ref().expect("the reader asks for it"))?;
                let modulus = self.collision_modulus(r, soft)?;
                Ok(Some(Restitution::Viscoelastic(Viscoelastic { time, modulus })))
            }
            (Some(CollisionLaw::Constant), None) => c.error(
                r.at,
                "constant needs `restitution`; leave `law` out to take it from the soft law or the materials",
            ),
            (law, restitution) => {
                // Without `law` the reader cannot tell what they belong to.
                if let (None, Some(key)) = (law, r.time.or(r.modulus)) {
                    return c.wrong(&key, "has a meaning only with `law = \"viscoelastic\"`: add it");
                }
                Ok(restitution.map(|e| Restitution::Constant(e.value)))
            }
        }
    }

    /// E* of viscoelastic collisions.
    fn collision_modulus(&self, r: &RawCollision, soft: Option<&Law>) -> Result<f64, SceneError> {
        let of_law = match soft.map(|law| law.normal) {
            Some(AnyNormal::Hertz(hertz)) => Some(hertz.effective_modulus),
            _ => self.effective_modulus(),
        };
        match (&r.modulus, of_law) {
            (Some(e), _) => self.context.positive(e),
            (None, Some(e)) => Ok(e),
            (None, None) => self.context.error(
                r.at,
                format!(
                    "viscoelastic collisions of {} need `modulus` (E*) here, or `youngs-modulus` and `poisson-ratio` of both materials",
                    self.names()
                ),
            ),
        }
    }

    /// Restitution of a pair without a soft law.
    fn restitution_of_materials(&self) -> Result<Restitution, SceneError> {
        let c = self.context;
        match self.mixed(|m| c.raw.materials[m].restitution.map(|e| e.value)) {
            Some(e) => Ok(Restitution::Constant(e)),
            None => c.error(
                self.place(),
                format!(
                    "there is no law of collision for {0}: add [contact.{0}] or [contact.default] with \
                     `collision = {{ restitution = 0.9 }}`, or give both materials `restitution`",
                    self.names()
                ),
            ),
        }
    }

    /// Friction of a pair that has no soft law, but may name a tangential one.
    fn friction_without_a_soft_law(&self) -> Result<f64, SceneError> {
        let tangential = self.said_of_tangential();
        if tangential.as_ref().is_some_and(|t| t.law.value == Sliding::None) {
            return Ok(0.0);
        }
        Ok(self.friction(tangential.as_ref().and_then(|t| t.friction.as_ref()))?.unwrap_or(0.0))
    }

    /// The bodies with which a curve is measured: a grain of the mean radius of each material, a plane where there are none.
    fn mean_bodies(&self, law: &Law, kinds: &[Kind], sizes: &[SizeRange]) -> Impact {
        let body = |material: usize| {
            let grains: Vec<(&Kind, f64)> = sizes
                .iter()
                .map(|s| (&kinds[usize::from(s.kind)], 0.5 * (s.r_min + s.r_max)))
                .filter(|(kind, _)| usize::from(kind.material) == material)
                .collect();
            if grains.is_empty() {
                return (0.0, 0.0);
            }
            let radius = grains.iter().map(|(_, radius)| radius).sum::<f64>() / grains.len() as f64;
            let free = grains.iter().find(|(kind, _)| !kind.fixed);
            (1.0 / radius, free.map_or(0.0, |(kind, _)| 1.0 / kind.mass(radius)))
        };
        let [(curvature_a, light_a), (curvature_b, light_b)] = [body(self.a), body(self.b)];
        Impact {
            law: *law,
            curvature: [curvature_a, curvature_b],
            effective_mass: 1.0 / (light_a + light_b),
            turning: 1.0,
            approach: 1.0,
            slip: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, grains, laws};
    use super::*;
    use crate::scene;
    use std::path::Path;

    /// The laws of a scene of grains of one material over a wall of another.
    fn tables(stage: &str, materials: [&str; 2], contacts: &str) -> Result<laws::Laws, String> {
        let text = format!(
            "[material.glass]\ndensity = 2500\n{}\n[material.steel]\n{}\n{contacts}\n\
             [[wall]]\nname = \"floor\"\nmaterial = \"steel\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             [[grains]]\nname = \"beads\"\nmaterial = \"glass\"\nradius = \"1 mm\"\n\
             fill = {{ method = \"at\", positions = [[0, 0, 1]] }}\n[[stage]]\nname = \"fall\"\nduration = 1\n{stage}\n",
            materials[0], materials[1]
        );
        let raw = scene::read(&text, "beads.toml", &[]).map_err(|e| e.to_string())?;
        let build = || {
            let context = Context { raw: &raw, folder: Path::new("."), materials: laws::materials(&raw)? };
            let kinds = grains::kinds(&context)?;
            let sizes = grains::prepare(&context, &kinds)?.ranges;
            laws::tables(&context, &kinds, &sizes)
        };
        build().map_err(|e: SceneError| e.to_string())
    }

    const EVENT: &str = "solver = { kind = \"event\" }";

    #[test]
    fn pairs_need_a_soft_law_only_for_soft_stages() {
        let contacts =
            "[contact.default]\ncollision = { restitution = 0.98, friction = 0.3, tangential-restitution = 0.4 }";
        let laws = tables(EVENT, ["", ""], contacts).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(*laws.contacts.law(0, 1), Law::none());
        let expected =
            Collision { restitution: Restitution::Constant(0.98), friction: 0.3, tangential_restitution: 0.4 };
        assert_eq!(*laws.collisions.law(0, 1), expected);
        let mixed = format!("{EVENT}\n[[stage]]\nname = \"rest\"\nduration = 1\n");
        for stage in ["", &mixed] {
            let said = tables(stage, ["", ""], contacts).err().unwrap();
            assert!(said.contains("there is no contact law for glass-glass"), "{said}");
        }
    }

    #[test]
    fn pairs_without_a_soft_law_go_by_their_materials() {
        let of = |materials, contacts: &str| tables(EVENT, materials, contacts);
        let said = of(["restitution = 0.9", ""], "").err().unwrap();
        assert!(said.contains("there is no law of collision for glass-steel"), "{said}");
        let smooth = of(["restitution = 0.25", "restitution = 1"], "").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(*smooth.collisions.law(0, 0), Collision::smooth(0.25));
        assert_eq!(*smooth.collisions.law(1, 0), Collision::smooth(0.5));
        let rough = ["restitution = 0\nfriction = 0.25", "restitution = 1\nfriction = 1"];
        let friction =
            |contacts: &str| of(rough, contacts).unwrap_or_else(|e| panic!("{e}")).collisions.law(0, 1).friction;
        assert_eq!(friction(""), 0.5);
        assert_eq!(friction("[contact.default]\ntangential = { law = \"spring\", friction = 0.2 }"), 0.2);
        assert_eq!(friction("[contact.default]\ntangential = { law = \"spring\" }"), 0.5);
        assert_eq!(friction("[contact.default]\ntangential = { law = \"none\" }"), 0.0);
        let said =
            of(["", ""], "[contact.default]\ncollision = { law = \"viscoelastic\", time = 1e-6 }").err().unwrap();
        assert!(said.contains("viscoelastic collisions of glass-glass need `modulus`"), "{said}");
    }
}
