//! Line charts: axes, ticks, legend. A chart becomes a [`Drawing`] of few kinds of marks, which is written as SVG here and as
//! pixels elsewhere.

use std::fmt::Write;

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// The axes.
    pub axes: [Axis; 2],
    /// The curves.
    pub curves: Vec<Curve>,
}

/// An axis. A text becomes one with even spacing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How values are spaced along it.
    pub spacing: Spacing,
}

/// How values are spaced along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences.
    #[default]
    Even,
    /// Equal ratios; values that are not above zero break a curve.
    Logarithmic,
}

impl Axis {
    /// With equal ratios.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), spacing: Spacing::Logarithmic }
    }
}

impl<T: Into<String>> From<T> for Axis {
    fn from(label: T) -> Self {
        Self { label: label.into(), spacing: Spacing::Even }
    }
}

/// One curve.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Name in the legend; none with one curve.
    pub name: String,
    /// Points (x, y); what is not finite breaks the curve.
    pub points: Vec<[f64; 2]>,
}

/// Size of the picture and of the frame in it \[px\].
const SIZE: [f64; 2] = [640.0, 400.0];
const FRAME: [[f64; 2]; 2] = [[76.0, 40.0], [620.0, 340.0]];

/// Colours that are told apart by those who see fewer of them (Okabe & Ito 2008).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#999999"];

/// Most points drawn of one curve: more are not seen.
const MOST_POINTS: usize = 1000;

/// Values shown along one axis.
enum Scale {
    /// From, to, and the way from tick to tick.
    Even { low: f64, high: f64, step: f64 },
    /// From and to, each a tick, and the ticks.
    Logarithmic { low: f64, high: f64, ticks: Vec<f64> },
}

/// Smallest and largest of some values, if there are any.
fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    (low <= high).then_some((low, high))
}

impl Scale {
    fn around(spacing: Spacing, values: impl Iterator<Item = f64>) -> Self {
        match spacing {
            Spacing::Even => Self::even(values),
            Spacing::Logarithmic => Self::logarithmic(values),
        }
    }

    /// Round numbers around all values, zero included where it is near.
    fn even(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = extremes(values.filter(|x| x.is_finite())).unwrap_or((0.0, 1.0));
        if low > 0.0 && low < 0.5 * high {
            low = 0.0;
        }
        if high < 0.0 && high > 0.5 * low {
            high = 0.0;
        }
        if high - low < 1e-12 * high.abs().max(low.abs()) || high == low {
            let half = if high == 0.0 { 1.0 } else { 0.5 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        // One, two or five of some decade, so that there are five to ten.
        let rough = (high - low) / 6.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * decade).find(|&step| step >= rough).unwrap_or(rough);
        Self::Even { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// Decades around all values above zero, or some of them; where there are few also their twos and fives.
    fn logarithmic(values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = extremes(values.filter(|x| *x > 0.0 && x.is_finite())).unwrap_or((1.0, 10.0));
        // Rounding must not open another decade for a value that is one.
        let (first, last) = ((least.log10() + 1e-9).floor() as i32, (most.log10() - 1e-9).ceil() as i32);
        let decades = (last - first).max(1);
        let (every, within): (i32, &[f64]) =
            if decades <= 3 { (1, &[1.0, 2.0, 5.0]) } else { ((decades + 9) / 10, &[1.0]) };
        let beyond = first + (decades + every - 1) / every * every;
        // By their digits, so that a thousandth is the one that a reader would write.
        let tick = |d: i32, m: &f64| format!("{m}e{d}").parse().unwrap_or(m * 10f64.powi(d));
        let ticks: Vec<f64> = (first..=beyond)
            .step_by(every as usize)
            .flat_map(|d| within.iter().map(move |m| tick(d, m)))
            .filter(|x| x.is_finite())
            .collect();
        // Only one tick beyond the values at either end.
        let begin = ticks.partition_point(|&x| x <= least * (1.0 + 1e-9)).saturating_sub(1);
        let end = ticks.partition_point(|&x| x < most * (1.0 - 1e-9)).max(begin + 1).min(ticks.len() - 1);
        let ticks = ticks[begin..=end].to_vec();
        Self::Logarithmic { low: ticks[0], high: ticks[ticks.len() - 1], ticks }
    }

    /// The ticks, and what they say.
    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Even { low, high, step } => {
                let (first, last) = ((low / step).round() as i64, (high / step).round() as i64);
                (first..=last).map(|k| k as f64 * step).map(|x| (x, label(x, *step))).collect()
            }
            Self::Logarithmic { ticks, .. } => ticks.iter().map(|&x| (x, label(x, x))).collect(),
        }
    }

    fn share(&self, x: f64) -> f64 {
        match *self {
            Self::Even { low, high, .. } => (x - low) / (high - low),
            Self::Logarithmic { low, high, .. } => (x.ln() - low.ln()) / (high.ln() - low.ln()),
        }
    }

    /// Whether a value has a place.
    fn shows(&self, x: f64) -> bool {
        x.is_finite() && (matches!(self, Self::Even { .. }) || x > 0.0)
    }
}

/// A tick as short as it can be told apart from its neighbours.
fn label(x: f64, step: f64) -> String {
    let size = x.abs().max(step);
    if !(1e-3..1e5).contains(&size) {
        return if x == 0.0 { "0".into() } else { format!("{x:.3e}").replace(".000e", "e").replace("00e", "e") };
    }
    let digits = (-step.log10().floor()).max(0.0) as usize;
    format!("{x:.digits$}")
}

/// Text made safe for HTML and SVG.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
    /// Its middle, the text reading upwards.
    Upwards,
}

/// A piece of a drawing, places in pixels from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through some points.
    Line {
        /// The points.
        points: Vec<[f64; 2]>,
        /// Colour, `#rrggbb`.
        colour: &'static str,
        /// Width \[px\].
        width: f64,
    },
    /// A filled shape.
    Area {
        /// Its corners.
        points: Vec<[f64; 2]>,
        /// Colour, `#rrggbb`.
        colour: &'static str,
    },
    /// A text on its base line.
    Text {
        /// Where.
        at: [f64; 2],
        /// Which part of it is there.
        anchor: Anchor,
        /// Size of the type \[px\].
        size: f64,
        /// What it says.
        text: String,
    },
}

/// A picture made of marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// Width and height \[px\].
    pub size: [f64; 2],
    /// Its marks, those behind first.
    pub marks: Vec<Mark>,
}

/// Size of type \[px\].
const TYPE: f64 = 13.0;
const GRID: &str = "#dddddd";
const EDGE: &str = "#444444";

impl Drawing {
    /// As SVG.
    pub fn svg(&self) -> String {
        let [width, height] = self.size;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"{TYPE}\" role=\"img\" aria-label=\"{0}\">\n\
             <title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            escaped(&self.title)
        );
        let path = |points: &[[f64; 2]]| {
            let points: Vec<String> = points.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
            points.join(" ")
        };
        for mark in &self.marks {
            // Writing to a text cannot fail.
            let _ = match mark {
                Mark::Line { points, colour, width } => writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
                    path(points)
                ),
                Mark::Area { points, colour } => {
                    writeln!(svg, "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.75\"/>", path(points))
                }
                Mark::Text { at: [x, y], anchor, size, text } => {
                    let place = match anchor {
                        Anchor::Start => format!("x=\"{x:.1}\" y=\"{y:.1}\""),
                        Anchor::Middle => format!("x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\""),
                        Anchor::End => format!("x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\""),
                        Anchor::Upwards => {
                            format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\"")
                        }
                    };
                    let size = if *size == TYPE { String::new() } else { format!(" font-size=\"{size}\"") };
                    writeln!(svg, "<text {place}{size}>{}</text>", escaped(text))
                }
            };
        }
        svg + "</svg>\n"
    }
}

/// Values of both axes and where they are drawn.
struct Frame {
    x: Scale,
    y: Scale,
}

impl Frame {
    /// Around some points.
    fn around<'a>(axes: &[Axis; 2], points: impl Iterator<Item = &'a [f64; 2]> + Clone) -> Self {
        Self {
            x: Scale::around(axes[0].spacing, points.clone().map(|p| p[0])),
            y: Scale::around(axes[1].spacing, points.map(|p| p[1])),
        }
    }

    /// Where a point is drawn \[px\].
    fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [[left, top], [right, bottom]] = FRAME;
        [left + (right - left) * self.x.share(x), bottom - (bottom - top) * self.y.share(y)]
    }

    /// Grid, ticks and edge.
    fn marks(&self) -> Vec<Mark> {
        let [[left, top], [right, bottom]] = FRAME;
        let line = |points: Vec<[f64; 2]>, colour| Mark::Line { points, colour, width: 1.0 };
        let text = |at, anchor, text| Mark::Text { at, anchor, size: TYPE, text };
        let mut marks = Vec::new();
        for (tick, says) in self.x.ticks() {
            let px = left + (right - left) * self.x.share(tick);
            marks.push(line(vec![[px, top], [px, bottom]], GRID));
            marks.push(text([px, bottom + 18.0], Anchor::Middle, says));
        }
        for (tick, says) in self.y.ticks() {
            let py = bottom - (bottom - top) * self.y.share(tick);
            marks.push(line(vec![[left, py], [right, py]], GRID));
            marks.push(text([left - 6.0, py + 4.0], Anchor::End, says));
        }
        marks.push(line(vec![[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], EDGE));
        marks
    }
}

/// Pieces of a curve between what has no place, thinned to what is seen.
fn pieces<'a>(frame: &'a Frame, curve: &'a Curve) -> impl Iterator<Item = Vec<[f64; 2]>> + 'a {
    let shown = curve.points.split(|p| !(frame.x.shows(p[0]) && frame.y.shows(p[1])));
    shown.map(|piece| {
        if piece.len() <= MOST_POINTS {
            return piece.to_vec();
        }
        // Lowest and highest of each stretch, in their order: peaks stay.
        let stretch = (2 * piece.len()).div_ceil(MOST_POINTS);
        let ends = piece.chunks(stretch).flat_map(|part| {
            let by_height = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
            let low = part.iter().min_by(by_height).copied();
            let high = part.iter().max_by(by_height).copied();
            let mut both: Vec<[f64; 2]> = low.into_iter().chain(high).collect();
            both.sort_by(|a, b| a[0].total_cmp(&b[0]));
            both
        });
        piece.first().copied().into_iter().chain(ends).chain(piece.last().copied()).collect()
    })
}

impl Chart {
    /// The picture as SVG.
    pub fn svg(&self) -> String {
        self.drawing().svg()
    }

    /// The picture.
    pub fn drawing(&self) -> Drawing {
        self.over(&[])
    }

    /// The picture with areas behind the curves, each from the one before it, the first from zero; the second axis is even.
    pub fn over(&self, areas: &[Curve]) -> Drawing {
        let zero = [[f64::NAN, 0.0]];
        let all = areas.iter().chain(&self.curves).flat_map(|c| &c.points);
        let frame = Frame::around(&self.axes, all.chain(zero.iter().filter(|_| !areas.is_empty())));
        let mut marks = frame.marks();
        let mut below: Vec<[f64; 2]> =
            areas.first().map_or(Vec::new(), |a| a.points.iter().map(|p| [p[0], 0.0]).collect());
        for (n, area) in areas.iter().enumerate() {
            let colour = COLOURS[n % COLOURS.len()];
            let under = Curve { name: String::new(), points: below };
            let (upper, lower): (Vec<_>, Vec<_>) =
                (pieces(&frame, area).flatten().collect(), pieces(&frame, &under).flatten().collect());
            let points = upper.into_iter().chain(lower.into_iter().rev()).map(|p| frame.at(p)).collect();
            marks.push(Mark::Area { points, colour });
            below = area.points.clone();
        }
        for (n, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[(areas.len() + n) % COLOURS.len()];
            for piece in pieces(&frame, curve) {
                let points = piece.into_iter().map(|p| frame.at(p)).collect();
                marks.push(Mark::Line { points, colour, width: 1.8 });
            }
        }
        if !areas.is_empty() {
            marks.push(backdrop(areas.len() + self.curves.len()));
        }
        marks.extend(legend(areas.iter().chain(&self.curves).map(|c| c.name.as_str())));
        marks.extend(self.lettering());
        Drawing { title: self.title.clone(), size: SIZE, marks }
    }

    /// Title and axes.
    fn lettering(&self) -> [Mark; 3] {
        let [[left, top], [right, bottom]] = FRAME;
        let middle = 0.5 * (left + right);
        let text = |at, anchor, size, text: &str| Mark::Text { at, anchor, size, text: text.to_owned() };
        [
            text([middle, 24.0], Anchor::Middle, 15.0, &self.title),
            text([middle, bottom + 42.0], Anchor::Middle, TYPE, &self.axes[0].label),
            text([18.0, 0.5 * (top + bottom)], Anchor::Upwards, TYPE, &self.axes[1].label),
        ]
    }
}

/// What makes a legend of so many lines legible on areas.
fn backdrop(lines: usize) -> Mark {
    let [[left, top], _] = FRAME;
    let (right, bottom) = (left + 215.0, top + 10.0 + 18.0 * lines as f64);
    let points = vec![[left + 4.0, top + 4.0], [right, top + 4.0], [right, bottom], [left + 4.0, bottom]];
    Mark::Area { points, colour: "#ffffff" }
}

/// Colours and names of the curves that have one.
fn legend<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Mark> {
    let [[left, top], _] = FRAME;
    let mut marks = Vec::new();
    for (n, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        let line = top + 16.0 + 18.0 * n as f64;
        let colour = COLOURS[n % COLOURS.len()];
        marks.push(Mark::Line { points: vec![[left + 10.0, line], [left + 30.0, line]], colour, width: 3.0 });
        let at = [left + 36.0, line + 4.0];
        marks.push(Mark::Text { at, anchor: Anchor::Start, size: TYPE, text: name.to_owned() });
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_few_and_around_the_values() {
        for (low, high) in [(0.0, 1.0), (-3.0, 17.0), (1e-9, 4.2e-9), (5.0, 5.0), (0.0, 0.0), (-1e6, -9e5)] {
            let scale = Scale::around(Spacing::Even, [low, high].into_iter());
            let ticks: Vec<f64> = scale.ticks().into_iter().map(|(tick, _)| tick).collect();
            assert!((3..=12).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            assert!(
                ticks[0] <= low && ticks[ticks.len() - 1] >= high - 1e-12 * high.abs(),
                "{low} to {high}: {ticks:?}"
            );
        }
        assert_eq!((label(0.2, 0.2).as_str(), label(0.0, 0.2).as_str()), ("0.2", "0.0"));
        assert_eq!(label(4e-9, 1e-9), "4e-9");
        assert_eq!(label(2500.0, 500.0), "2500");
    }

    #[test]
    fn ticks_of_a_logarithmic_axis_are_decades_or_parts_of_them() {
        let ticks = |low: f64, high: f64| -> Vec<String> {
            let scale = Scale::around(Spacing::Logarithmic, [low, high, 0.0, -1.0, f64::NAN].into_iter());
            let ticks = scale.ticks();
            let all: Vec<f64> = ticks.iter().map(|t| t.0).collect();
            assert!(
                all[0] <= low * (1.0 + 1e-9) && all[all.len() - 1] >= high * (1.0 - 1e-9),
                "{low} to {high}: {all:?}"
            );
            assert!((2..=12).contains(&all.len()) && all.windows(2).all(|w| w[0] < w[1]), "{low} to {high}: {all:?}");
            assert_eq!((scale.share(all[0]), scale.share(all[all.len() - 1])), (0.0, 1.0));
            ticks.into_iter().map(|t| t.1).collect()
        };
        assert_eq!(ticks(1.5, 42.0), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(ticks(1.0, 1000.0).len(), 10);
        assert_eq!(ticks(0.9e-6, 1e-3), ["1e-7", "1e-6", "1e-5", "1e-4", "0.001"]);
        assert_eq!(ticks(1.0, 1e4), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(ticks(3.0, 4.0), ["2", "5"]);
        assert_eq!(ticks(7.0, 7.0), ["5", "10"]);
        assert_eq!(ticks(10.0, 10.0), ["10", "20"]);
        ticks(1e-30, 1e25);
        ticks(2e-300, 1e300);
        // Nothing above zero: some axis.
        assert!(Scale::around(Spacing::Logarithmic, [-1.0, 0.0].into_iter()).ticks().len() >= 2);
    }

    #[test]
    fn a_decade_is_as_wide_as_any_other_and_zero_breaks_a_curve() {
        let points = vec![[1.0, 0.1], [10.0, 0.2], [100.0, 0.0], [1000.0, 0.3], [0.0, 0.3], [1e4, 0.4], [1e5, 0.5]];
        let axes = [Axis::logarithmic("radius [µm]"), "share".into()];
        let chart = Chart { title: String::new(), axes, curves: vec![Curve { name: String::new(), points }] };
        let lines = |chart: &Chart| -> Vec<Vec<[f64; 2]>> {
            let line = |mark: Mark| if let Mark::Line { points, width: 1.8, .. } = mark { Some(points) } else { None };
            chart.drawing().marks.into_iter().filter_map(line).collect()
        };
        let drawn = lines(&chart);
        assert_eq!(drawn.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2]);
        let [left, _] = [FRAME[0][0], FRAME[1][0]];
        let decade = (FRAME[1][0] - FRAME[0][0]) / 5.0;
        for (k, point) in drawn[0].iter().chain(&drawn[1]).enumerate() {
            assert!((point[0] - left - decade * k as f64).abs() < 1e-9, "{point:?}");
        }
        let both = Chart { axes: [Axis::logarithmic("x"), Axis::logarithmic("y")], ..chart };
        assert_eq!(
            lines(&both).iter().map(Vec::len).collect::<Vec<_>>(),
            [2, 1, 2],
            "zero has no place on the other axis"
        );
    }

    #[test]
    fn a_long_curve_keeps_its_peaks() {
        let points: Vec<[f64; 2]> = (0..100_000).map(|k| [f64::from(k), if k == 77_777 { 5.0 } else { 0.0 }]).collect();
        let frame = Frame::around(&Default::default(), points.iter());
        let drawn: Vec<Vec<[f64; 2]>> = pieces(&frame, &Curve { name: String::new(), points }).collect();
        assert!(drawn[0].len() <= 2 * MOST_POINTS && drawn[0].contains(&[77_777.0, 5.0]));
        assert!(drawn[0].windows(2).all(|w| w[0][0] <= w[1][0]));
        assert_eq!((drawn[0][0][0], drawn[0][drawn[0].len() - 1][0]), (0.0, 99_999.0));
    }

    #[test]
    fn areas_stand_on_each_other_and_on_zero() {
        let curve = |name: &str, y: [f64; 2]| Curve { name: name.into(), points: vec![[0.0, y[0]], [1.0, y[1]]] };
        let chart = Chart { title: "energy".into(), axes: Default::default(), curves: vec![curve("sum", [5.0, 5.0])] };
        let drawing = chart.over(&[curve("a", [2.0, 1.0]), curve("b", [5.0, 5.0])]);
        let areas: Vec<&Vec<[f64; 2]>> = drawing
            .marks
            .iter()
            .filter_map(|mark| if let Mark::Area { points, .. } = mark { Some(points) } else { None })
            .collect();
        let [_, [_, bottom]] = FRAME;
        assert_eq!((areas.len(), areas[0].len()), (3, 4), "two and what is behind the legend");
        assert_eq!(areas[0][2][1], bottom, "zero is the bottom");
        // The lower edge of the second is the upper edge of the first, backwards.
        assert_eq!((areas[1][3], areas[1][2]), (areas[0][0], areas[0][1]));
    }

    #[test]
    fn a_chart_is_well_formed_and_holds_what_it_shows() {
        let points = (0..5000).map(|k| [f64::from(k), f64::from(k % 7)]).collect();
        let gap = vec![[0.0, 0.0], [f64::NAN, 1.0], [3.0, 1.0]];
        let chart = Chart {
            title: "a < b & c".into(),
            axes: ["time [s]".into(), "force [N]".into()],
            curves: vec![Curve { name: "one".into(), points }, Curve { name: "two".into(), points: gap }],
        };
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b &amp; c") && svg.contains("force [N]"));
        // Both pieces of the gap, the other curve, the edge and the legend, and the grid.
        let ticks = svg.matches("#dddddd").count();
        assert_eq!(svg.matches("<polyline").count(), ticks + 3 + 1 + 2);
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert!(!svg.contains("NaN") && svg.len() < 100_000);
    }
}
