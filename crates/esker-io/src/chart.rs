//! Line charts: axes, ticks, legend. A chart becomes a [`Drawing`] of few kinds of marks, which is written as SVG here and as
//! pixels elsewhere.

use std::fmt::Write;

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// What the axes show, with units.
    pub axes: [String; 2],
    /// The curves.
    pub curves: Vec<Curve>,
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
struct Scale {
    low: f64,
    high: f64,
    step: f64,
}

impl Scale {
    /// Round numbers around all values, zero included where it is near.
    fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let values = values.filter(|x| x.is_finite());
        let (mut low, mut high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
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
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let first = (self.low / self.step).round() as i64;
        let last = (self.high / self.step).round() as i64;
        (first..=last).map(|k| k as f64 * self.step)
    }

    fn share(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
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
    fn around<'a>(points: impl Iterator<Item = &'a [f64; 2]> + Clone) -> Self {
        Self { x: Scale::around(points.clone().map(|p| p[0])), y: Scale::around(points.map(|p| p[1])) }
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
        for tick in self.x.ticks() {
            let [px, _] = self.at([tick, self.y.low]);
            marks.push(line(vec![[px, top], [px, bottom]], GRID));
            marks.push(text([px, bottom + 18.0], Anchor::Middle, label(tick, self.x.step)));
        }
        for tick in self.y.ticks() {
            let [_, py] = self.at([self.x.low, tick]);
            marks.push(line(vec![[left, py], [right, py]], GRID));
            marks.push(text([left - 6.0, py + 4.0], Anchor::End, label(tick, self.y.step)));
        }
        marks.push(line(vec![[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], EDGE));
        marks
    }
}

/// Pieces of a curve between what is not finite, thinned to what is seen.
fn pieces(curve: &Curve) -> impl Iterator<Item = Vec<[f64; 2]>> + '_ {
    let finite = curve.points.split(|p| !(p[0].is_finite() && p[1].is_finite()));
    finite.map(|piece| {
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

    /// The picture with areas behind the curves, each from the one before it, the first from zero.
    pub fn over(&self, areas: &[Curve]) -> Drawing {
        let zero = [[f64::NAN, 0.0]];
        let all = areas.iter().chain(&self.curves).flat_map(|c| &c.points);
        let frame = Frame::around(all.chain(zero.iter().filter(|_| !areas.is_empty())));
        let mut marks = frame.marks();
        let mut below: Vec<[f64; 2]> =
            areas.first().map_or(Vec::new(), |a| a.points.iter().map(|p| [p[0], 0.0]).collect());
        for (n, area) in areas.iter().enumerate() {
            let colour = COLOURS[n % COLOURS.len()];
            let under = Curve { name: String::new(), points: below };
            let (upper, lower): (Vec<_>, Vec<_>) =
                (pieces(area).flatten().collect(), pieces(&under).flatten().collect());
            let points = upper.into_iter().chain(lower.into_iter().rev()).map(|p| frame.at(p)).collect();
            marks.push(Mark::Area { points, colour });
            below = area.points.clone();
        }
        for (n, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[(areas.len() + n) % COLOURS.len()];
            for piece in pieces(curve) {
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
            text([middle, bottom + 42.0], Anchor::Middle, TYPE, &self.axes[0]),
            text([18.0, 0.5 * (top + bottom)], Anchor::Upwards, TYPE, &self.axes[1]),
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
            let scale = Scale::around([low, high].into_iter());
            let ticks: Vec<f64> = scale.ticks().collect();
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
    fn a_long_curve_keeps_its_peaks() {
        let points: Vec<[f64; 2]> = (0..100_000).map(|k| [f64::from(k), if k == 77_777 { 5.0 } else { 0.0 }]).collect();
        let drawn: Vec<Vec<[f64; 2]>> = pieces(&Curve { name: String::new(), points }).collect();
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
