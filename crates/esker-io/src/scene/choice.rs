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
        /// latching springs and falling stiffness of Walton and Braun (1986)
        WaltonBraun1986 = "walton_braun_1986",
        /// the same with the parameters of Lan and Rosato
        LanRosato = "lan_rosato",
        /// power of the overlap and falling stiffness of Sadd, Tai and Shukla (1993)
        Sadd1993 = "sadd_1993",
        /// the same with hysteresis
        Sadd1993Hysteresis = "sadd_1993_hysteresis",
        /// cylinders of Chang, Misra and Xue (1989)
        Chang1989 = "chang_1989",
        /// force at a distance and softening friction of Langston, Tüzün and Heyes (1994)
        Langston1994 = "langston_1994",
        /// the same with the shorter range of 1995
        Langston1995 = "langston_1995",
        /// the same with the steeper force of 1995
        Langston1995Steep = "langston_1995_steep",
        /// dashpot with a limit of Pöschel and Buchholtz (1993)
        PoschelBuchholtz1993 = "poschel_buchholtz_1993",
        /// latching springs and a spring with a limit of Khakhar (1997)
        Khakhar1997 = "khakhar_1997",
        /// spring and dashpot with a limit of Cundall and Strack (1979)
        CundallStrack1979 = "cundall_strack_1979",
        /// spring and dashpot without a limit of Lee and Herrmann
        LeeHerrmann = "lee_herrmann",
        /// the normal spring and dashpot for the tangent too, after Tsuji and Taguchi (1992)
        Taguchi1992 = "taguchi_1992",
        /// 12-6 force and a dashpot without a limit of Akiyama (1996)
        Akiyama1996 = "akiyama_1996",
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
        /// power of the overlap
        Power = "power",
        /// area of the overlap of discs, volume of that of spheres
        Overlap = "overlap",
        /// cylinders of Chang, Misra and Xue, for discs
        Chang = "chang",
        /// springs of Walton and Braun: unloading is stiffer than loading
        WaltonBraun = "walton-braun",
        /// powers of the overlap after Sadd, Tai and Shukla: unloading falls faster than loading rises
        Sadd = "sadd",
        /// springs of Luding: unloading is stiffer than loading, and sticks
        Luding = "luding",
        /// elastic, perfectly plastic spheres after Thornton
        Thornton = "thornton",
        /// adhesive elastic spheres after Johnson, Kendall and Roberts
        Jkr = "jkr",
        /// adhesive spheres that yield, after Thornton and Ning
        ThorntonNing = "thornton-ning",
        /// repulsive part of a 12-6 potential; begins before grains touch
        TwelveSix = "twelve-six",
        /// power of the distance after Langston; begins before grains touch
        Langston = "langston",
    }
    /// Whose displacement an overlap is.
    Displacement {
        /// that of one body, as printed
        One = "one",
        /// the approach of both
        Both = "both",
    }
    /// A normal dashpot.
    DashpotLaw {
        /// viscous spheres by their viscosity, after Kuwabara and Kono
        KuwabaraKono = "kuwabara-kono",
        /// viscous spheres by their relaxation time, after Brilliantov
        Viscoelastic = "viscoelastic",
        /// in proportion to the elastic force, after Hunt and Crossley
        HuntCrossley = "hunt-crossley",
        /// in proportion to the elastic force, for a restitution, after Lankarani and Nikravesh
        LankaraniNikravesh = "lankarani-nikravesh",
        /// powers of overlap and speed
        Power = "power",
        /// in proportion to the growth of the area or volume of the overlap
        OverlapRate = "overlap-rate",
    }
    /// Attraction of grains.
    CohesionLaw {
        /// none
        None = "none",
        /// constant while grains touch, after Derjaguin, Muller and Toporov
        Dmt = "dmt",
        /// growing with the contact area, after Kohring
        Kohring = "kohring",
        /// a bridge of liquid, after Willett
        Capillary = "capillary",
    }
    /// What hard collisions lose along the normal.
    CollisionLaw {
        /// the same restitution at all speeds
        Constant = "constant",
        /// viscous elastic spheres, whose restitution falls with the speed
        Viscoelastic = "viscoelastic",
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
        /// stiffness that falls towards the limit of friction, after Walton and Braun
        WaltonBraun = "walton-braun",
        /// the same after Mindlin and Deresiewicz
        MindlinDeresiewicz = "mindlin-deresiewicz",
        /// softening function of the displacement, after Langston
        Langston = "langston",
        /// spring along the present slip, as Džiugys and Peters write it; for comparison
        Literal = "literal",
    }
    /// Resistance to rolling.
    RollingLaw {
        /// no resistance
        None = "none",
        /// constant torque against the rolling
        Constant = "constant",
        /// torque in proportion to the speed of rolling
        Viscous = "viscous",
        /// angular spring with memory, limited by friction
        Spring = "spring",
    }
    /// Resistance to twisting about the normal.
    TwistingLaw {
        /// no resistance
        None = "none",
        /// angular spring with memory, limited by friction
        Spring = "spring",
        /// the same with stiffness and limit of a contact area that resists sliding, after Marshall
        Marshall = "marshall",
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
        /// hard collisions in time order
        Event = "event",
        /// from one equilibrium to the next, without inertia
        Quasistatic = "quasistatic",
    }
    /// What grains do in a quasi-static stage.
    Nodes {
        /// move and turn
        Turning = "turning",
        /// move only: moments are not balanced
        Translating = "translating",
    }
    /// How the structure of a quasi-static stage is solved.
    StaticBy {
        /// by its size
        Auto = "auto",
        /// by its inverse, kept up to date from change to change
        Inverse = "inverse",
        /// by sparse factors
        Factors = "factors",
        /// by conjugate gradients
        Gradients = "gradients",
    }
    /// What is done against hard collisions that follow each other without end.
    Collapse {
        /// slower ones lose nothing
        CutOff = "cut-off",
        /// those too soon after the last lose nothing
        ContactTime = "contact-time",
        /// once most are slow, the stage goes on with soft contacts
        HandOver = "hand-over",
        /// nothing; the run ends with an error
        Refuse = "refuse",
    }
    /// How bodies with different moments of inertia are turned.
    Rotation {
        /// five exact turns about the principal axes
        Quaternions = "quaternions",
        /// angles in one of two sets of body axes, by Runge–Kutta; not with gear, hermite and runge-kutta
        EulerAngles = "euler-angles",
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
        /// tries the force out in the middle of the step and corrects; fourth order, with damping third
        Hermite = "hermite",
        /// tries three forces out; fourth order
        RungeKutta = "runge-kutta",
    }
}
