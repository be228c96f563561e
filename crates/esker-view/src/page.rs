//! The page: plain JavaScript and WebGL2 in `page/`, put together into one file that needs nothing else.

use crate::run::{Run, RunError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use esker_io::store::StoreError;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");

/// Scripts, in the order in which they stand in one scope.
const SCRIPTS: &[&str] = &[
    include_str!("../page/math.js"),
    include_str!("../page/store.js"),
    include_str!("../page/source.js"),
    include_str!("../page/fields.js"),
    include_str!("../page/colours.js"),
    include_str!("../page/camera.js"),
    include_str!("../page/shaders.js"),
    include_str!("../page/walls.js"),
    include_str!("../page/cull.js"),
    include_str!("../page/scene.js"),
    include_str!("../page/pick.js"),
    include_str!("../page/trails.js"),
    include_str!("../page/overlay.js"),
    include_str!("../page/series.js"),
    include_str!("../page/chart.js"),
    include_str!("../page/ui.js"),
    include_str!("../page/player.js"),
    include_str!("../page/pointer.js"),
    include_str!("../page/plots.js"),
    include_str!("../page/card.js"),
    include_str!("../page/record.js"),
    include_str!("../page/viewer.js"),
    include_str!("../page/main.js"),
];

/// The page without a run: it asks the server that sent it.
pub fn bare() -> String {
    assembled("")
}

/// The page with some frames of a run inside, every `stride`-th of them and the last.
pub fn with_run(run: &mut Run, stride: usize) -> Result<String, RunError> {
    let mut index = run.index();
    let bytes = pick_frames(run, &mut index, stride)?;
    let mut data = String::new();
    let mut add = |id: &str, value: &Value| {
        // No text of a run can be taken for a tag or a comment.
        let text = value.to_string().replace('<', "\\u003c");
        data += &format!("<script id=\"{id}\" type=\"application/json\">{text}</script>\n");
    };
    index["running"] = json!(false);
    add("esker-index", &index);
    if let Some(series) = run.series()? {
        add("esker-series", &json!(series));
    }
    if let Some(summary) = run.summary()? {
        add("esker-run", &json!(summary));
    }
    data += "<script id=\"esker-store\" type=\"text/plain\">";
    STANDARD.encode_string(bytes, &mut data);
    data += "</script>\n";
    Ok(assembled(&data))
}

/// Blocks of some frames, one behind another, and the index changed to where they are now.
fn pick_frames(run: &Run, index: &mut Value, stride: usize) -> Result<Vec<u8>, StoreError> {
    let all = run.store.frames();
    let chosen = all.iter().enumerate().filter(|(k, _)| k % stride.max(1) == 0 || k + 1 == all.len());
    let mut bytes = Vec::new();
    let mut moved: BTreeMap<u64, u64> = BTreeMap::new();
    let mut blocks = serde_json::Map::new();
    let mut frames = Vec::new();
    for (_, frame) in chosen {
        for at in [frame.grains, frame.walls, frame.at] {
            if moved.contains_key(&at) {
                continue;
            }
            let block = run.store.raw_block(at)?;
            let new = bytes.len() as u64;
            moved.insert(at, new);
            if at != frame.at {
                blocks.insert(new.to_string(), block.len().into());
            }
            bytes.extend_from_slice(&block);
        }
        frames.push(json!({
            "time": frame.time, "step": frame.step, "at": moved[&frame.at], "length": frame.length,
            "grains": moved[&frame.grains], "walls": moved[&frame.walls],
        }));
    }
    index["frames"] = json!(frames);
    index["blocks"] = Value::Object(blocks);
    Ok(bytes)
}

fn assembled(data: &str) -> String {
    let script = format!("<script>\n(() => {{\n\"use strict\";\n{}}})();\n</script>", SCRIPTS.concat());
    let style = format!("<style>\n{STYLE}</style>");
    // What is put in is not looked at again.
    let mut page = String::with_capacity(PAGE.len() + style.len() + data.len() + script.len());
    let mut rest = PAGE;
    for (mark, part) in
        [("<!-- style -->", style.as_str()), ("<!-- data -->", data), ("<!-- script -->", script.as_str())]
    {
        let (before, after) = rest.split_once(mark).expect("the marks of our own page, in this order");
        page += before;
        page += part;
        rest = after;
    }
    page + rest
}
