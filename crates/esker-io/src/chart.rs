//! A line chart as SVG: axes, ticks, legend; light or dark with the page it stands in.

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
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

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

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Chart {
    /// The picture.
    pub fn svg(&self) -> String {
        let all = |axis: usize| self.curves.iter().flat_map(move |c| c.points.iter().map(move |p| p[axis]));
        let [x, y] = [0, 1].map(|axis| Scale::around(all(axis)));
        let [[left, top], [right, bottom]] = FRAME;
        let at = |p: [f64; 2]| [left + x.share(p[0]) * (right - left), bottom - y.share(p[1]) * (bottom - top)];
        let mut svg = String::new();
        let [width, height] = SIZE;
        // Writing to a text cannot fail.
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\" aria-label=\"{0}\">\n\
             <title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
            escaped(&self.title)
        );
        for tick in x.ticks() {
            let [px, _] = at([tick, y.low]);
            let _ = writeln!(
                svg,
                "<line x1=\"{px:.1}\" y1=\"{top}\" x2=\"{px:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{px:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                label(tick, x.step)
            );
        }
        for tick in y.ticks() {
            let [_, py] = at([x.low, tick]);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{py:.1}\" x2=\"{right}\" y2=\"{py:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                py + 4.0,
                label(tick, y.step)
            );
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444\"/>\n\
             <text x=\"{}\" y=\"24\" text-anchor=\"middle\" font-size=\"15\">{}</text>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            right - left,
            bottom - top,
            0.5 * (left + right),
            escaped(&self.title),
            0.5 * (left + right),
            bottom + 42.0,
            escaped(&self.axes[0]),
            0.5 * (top + bottom),
            escaped(&self.axes[1]),
        );
        for (n, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[n % COLOURS.len()];
            for piece in curve.points.split(|p| !(p[0].is_finite() && p[1].is_finite())) {
                let stride = piece.len().div_ceil(MOST_POINTS).max(1);
                let mut drawn: Vec<[f64; 2]> = piece.iter().copied().step_by(stride).collect();
                drawn.extend(piece.last().filter(|_| stride > 1));
                let path: Vec<String> = drawn.into_iter().map(at).map(|[a, b]| format!("{a:.2},{b:.2}")).collect();
                let _ = writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
                    path.join(" ")
                );
            }
            if !curve.name.is_empty() {
                let line = top + 16.0 + 18.0 * n as f64;
                let _ = writeln!(
                    svg,
                    "<line x1=\"{}\" y1=\"{line}\" x2=\"{}\" y2=\"{line}\" stroke=\"{colour}\" stroke-width=\"3\"/>\
                     <text x=\"{}\" y=\"{}\">{}</text>",
                    left + 10.0,
                    left + 30.0,
                    left + 36.0,
                    line + 4.0,
                    escaped(&curve.name)
                );
            }
        }
        svg + "</svg>\n"
    }
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
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert!(!svg.contains("NaN") && svg.len() < 100_000);
    }
}
