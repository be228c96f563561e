//! Named measures of one run, and their spread over runs.

/// Named measures of one run, in order.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<(String, f64)>);

impl Table {
    pub fn put(&mut self, name: &str, value: f64) {
        self.0.push((name.to_string(), value));
    }

    pub fn get(&self, name: &str) -> f64 {
        self.0.iter().find(|row| row.0 == name).unwrap_or_else(|| panic!("no measure `{name}`")).1
    }
}

/// Mean ± standard deviation and the range over the runs, as Markdown.
pub fn summary(runs: &[Table]) -> String {
    let mut text = String::from("| measure | mean ± sd | min … max |\n|---|---|---|\n");
    for (name, _) in &runs[0].0 {
        let values: Vec<f64> = runs.iter().map(|run| run.get(name)).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        text += &format!("| {name} | {} ± {} | {} … {} |\n", digits(mean), digits(sd), digits(min), digits(max));
    }
    text
}

/// Three or four significant digits.
fn digits(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if a < 1e-2 => format!("{x:.1e}"),
        a if a < 1.0 => format!("{x:.3}"),
        a if a < 100.0 => format!("{x:.2}"),
        _ => format!("{x:.0}"),
    }
}
