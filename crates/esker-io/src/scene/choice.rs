//! Words of the format that become enums. One list gives the enum, the words the reader accepts and their meaning
//! in the reference page.

/// An enum that a scene writes as a word.
pub trait Choice: Sized + Copy + 'static {
    /// Every word and its meaning, in the order of the variants.
    const WORDS: &'static [(&'static str, &'static str)];
    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self>;
    /// The word of a variant.
    fn word(self) -> &'static str;
}

macro_rules! choices {
    ($(#[doc = $doc:literal] $name:ident { $(#[doc = $meaning:literal] $variant:ident = $word:literal,)+ })+) => { $(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $(#[doc = $meaning] $variant,)+ }

        impl Choice for $name {
            const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, $meaning),)+];

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }

            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    )+ };
}

choices! {
    /// A direction of the world frame.
    Axis {
        /// along x
        X = "x",
        /// along y
        Y = "y",
        /// along z
        Z = "z",
    }
    /// A published set of contact laws.
    Preset {
        /// viscoelastic discs of Džiugys and Peters (1998)
        DziugysPeters1998 = "dziugys_peters_1998",
    }
    /// When a contact ends.
    ContactEnd {
        /// when the normal force would become tension
        NoTension = "no-tension",
        /// when the overlap is zero; a damped contact may pull shortly before
        Geometric = "geometric",
    }
    /// The elastic normal force.
    NormalLaw {
        /// linear spring
        Hooke = "hooke",
        /// elastic spheres after Hertz
        Hertz = "hertz",
    }
    /// The tangential force.
    TangentialLaw {
        /// frictionless
        None = "none",
        /// linear spring with memory, limited by friction
        Spring = "spring",
        /// spring of Mindlin, stiffer with the load, limited by friction
        Mindlin = "mindlin",
        /// viscous force limited by friction, without memory
        Dashpot = "dashpot",
    }
    /// Resistance to rolling.
    RollingLaw {
        /// no resistance
        None = "none",
        /// constant torque against the rolling
        Constant = "constant",
        /// angular spring with memory, limited by friction
        Spring = "spring",
    }
    /// Resistance to twisting about the normal.
    TwistingLaw {
        /// no resistance
        None = "none",
        /// angular spring with memory, limited by friction
        Spring = "spring",
    }
    /// The course of an oscillation in time.
    Waveform {
        /// sine
        Sine = "sine",
        /// parabolic arcs: constant acceleration of alternating sign
        Parabolic = "parabolic",
    }
    /// The shape of a grain.
    GrainShape {
        /// ball
        Sphere = "sphere",
        /// disc of a planar scene
        Disc = "disc",
    }
    /// What a distribution of sizes counts.
    CountBy {
        /// so many grains of each size
        Number = "number",
        /// so much mass of each size, as a sieve gives it
        Mass = "mass",
    }
    /// How grains are placed.
    FillMethod {
        /// rows on a lattice from the bottom up, shifted at random by `jitter`
        Lattice = "lattice",
        /// random places without overlap
        Random = "random",
        /// one after the other, rolling down the grains below to a place of rest
        DropAndRoll = "drop-and-roll",
        /// from a file
        File = "file",
        /// at listed places
        At = "at",
    }
    /// When grains of a feed arrive.
    Arrival {
        /// at equal intervals
        Steady = "steady",
        /// at random, independently
        Poisson = "poisson",
    }
    /// How a stage is computed.
    SolverKind {
        /// soft contacts, fixed steps
        Explicit = "explicit",
    }
    /// The scheme of integration.
    Integrator {
        /// kick, drift, kick; second order
        VelocityVerlet = "velocity-verlet",
        /// velocities half a step apart from places; second order
        LeapFrog = "leap-frog",
        /// velocities first, then places; first order
        SymplecticEuler = "symplectic-euler",
        /// predictor and corrector of Gear with six values; fifth order
        Gear = "gear",
        /// predictor and corrector of Gear with four values; third order
        Gear3 = "gear-3",
        /// predictor and corrector of Gear with five values; fourth order
        Gear4 = "gear-4",
        /// places with the old velocities; first order, contacts gain energy
        ExplicitEuler = "explicit-euler",
        /// places with the old velocities and half a kick; first order, contacts gain half as much energy
        Taylor = "taylor",
        /// looks one step back; second order
        AdamsBashforth = "adams-bashforth",
        /// looks one step back and corrects velocities; second order
        Beeman = "beeman",
        /// predicts and corrects places and velocities once; second order, with damping first
        Newmark = "newmark",
    }
}
