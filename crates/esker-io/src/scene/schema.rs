//! The format for other programs and for people: JSON schema and reference page, made from the tables of keys.

use super::keys::{Bound, Key, Kind, Rule, Section};
use super::tables::{SCENE, sections};
use serde_json::{Map, Value, json};

/// The JSON schema (draft 2020-12) of a scene, for editors and other tools.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    for (path, section) in sections().iter().skip(1) {
        definitions.insert(definition_name(path), section_schema(section));
    }
    let mut root = section_schema(&SCENE);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Esker scene");
    root["$defs"] = Value::Object(definitions);
    root
}

/// The way to a section; to its first place, if several tables share it.
fn path_of(section: &'static Section) -> String {
    let found = sections().into_iter().find(|(_, known)| std::ptr::eq(*known, section));
    found.map_or_else(|| section.name.to_string(), |(path, _)| path)
}

/// `[[wall]] motion.rotate` as `wall.motion.rotate`.
fn definition_name(path: &str) -> String {
    path.replace(".NAME", "").replace(['[', ']'], "").replace(' ', ".")
}

fn section_schema(section: &Section) -> Value {
    let mut properties = Map::new();
    for key in section.keys {
        let mut schema = kind_schema(&key.kind, key.bound);
        schema["description"] = json!(description(key));
        if let Ok(example) = key.example.parse::<toml_edit::Value>() {
            schema["examples"] = json!([to_json(&example)]);
        }
        properties.insert(key.name.to_string(), schema);
    }
    let always = section.keys.iter().filter(|key| key.required && key.only_for.is_empty());
    let required: Vec<&str> = always.map(|key| key.name).collect();
    let mut rules: Vec<Value> = vec![];
    for group in section.groups {
        let any: Vec<Value> = group.keys.iter().map(|key| json!({ "required": [key] })).collect();
        match group.rule {
            Rule::ExactlyOne => rules.push(json!({ "oneOf": any })),
            Rule::AtLeastOne => rules.push(json!({ "anyOf": any })),
            Rule::AtMostOne => rules.push(json!({ "anyOf": [{ "oneOf": any }, { "not": { "anyOf": any } }] })),
            Rule::Needs => rules.push(json!({ "dependentSchemas": { group.keys[0]: { "anyOf": any[1..] } } })),
        }
    }
    // Keys that go with some choices of the tag only.
    if let Some(tag) = section.tag {
        for key in section.keys.iter().filter(|key| !key.only_for.is_empty()) {
            let with = json!({ "properties": { tag: { "enum": key.only_for } } });
            rules.push(json!({ "dependentSchemas": { key.name: with } }));
            if key.required {
                rules.push(json!({ "if": with, "then": { "required": [key.name] } }));
            }
        }
    }
    let mut out = json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    if !rules.is_empty() {
        out["allOf"] = json!(rules);
    }
    out
}

fn kind_schema(kind: &Kind, bound: Bound) -> Value {
    match kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Count => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }] }),
        Kind::Number | Kind::NumberOr(_) => {
            let mut number = json!({ "type": "number" });
            match bound {
                Bound::Any => {}
                Bound::Positive => number["exclusiveMinimum"] = json!(0),
                Bound::NotNegative => number["minimum"] = json!(0),
                Bound::Fraction => {
                    number["minimum"] = json!(0);
                    number["maximum"] = json!(1);
                }
            }
            json!({ "anyOf": [number, { "type": "string" }] })
        }
        Kind::Vector => {
            let component = kind_schema(&Kind::Number, Bound::Any);
            json!({ "type": "array", "items": component, "minItems": 2, "maxItems": 3 })
        }
        Kind::Text | Kind::Formula(_) => json!({ "type": "string", "minLength": 1 }),
        Kind::Choice(choices) => {
            let each: Vec<Value> =
                choices.iter().map(|(word, doc)| json!({ "const": word, "description": doc.trim() })).collect();
            json!({ "oneOf": each })
        }
        Kind::Table(section) => json!({ "$ref": format!("#/$defs/{}", definition_name(&path_of(section))) }),
        Kind::Map(of) => json!({ "type": "object", "additionalProperties": kind_schema(of, bound) }),
        Kind::List(of, least, most) => {
            let mut list = json!({ "type": "array", "items": kind_schema(of, bound), "minItems": least });
            if *most != usize::MAX {
                list["maxItems"] = json!(most);
            }
            list
        }
        Kind::OneOrList(of) => {
            let one = kind_schema(of, bound);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
        Kind::Row(fields) => {
            let items: Vec<Value> = fields.iter().map(|(.., bound)| kind_schema(&Kind::Number, *bound)).collect();
            json!({ "type": "array", "prefixItems": items, "minItems": fields.len(), "maxItems": fields.len() })
        }
        Kind::Either(kinds) => {
            let each: Vec<Value> = kinds.iter().map(|kind| kind_schema(kind, bound)).collect();
            json!({ "anyOf": each })
        }
        Kind::Variables => {
            json!({ "type": "object", "additionalProperties": { "type": ["number", "string"] } })
        }
    }
}

fn to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(truth) => json!(truth.value()),
        toml_edit::Value::Datetime(date) => json!(date.value().to_string()),
        toml_edit::Value::Array(array) => array.iter().map(to_json).collect(),
        toml_edit::Value::InlineTable(table) => {
            let entries = table.iter().map(|(name, value)| (name.to_string(), to_json(value)));
            Value::Object(entries.collect())
        }
    }
}

/// What a key means, with its unit and default.
fn description(key: &Key) -> String {
    let mut out = key.doc.to_string();
    if !key.measure.unit.is_empty() {
        out += &format!(" Unit: {}.", key.measure.unit);
    }
    if let Some(default) = key.default {
        out += &format!(" Default: {default}.");
    }
    out
}

/// The reference page of the book: every table, every key, with unit, default, meaning and an example.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Scene reference\n\nPlain numbers are SI. Texts carry units, as `\"5 mm\"`, and may calculate with the \
         variables of `[let]`, as `\"width/2\"`. A key without default that is not marked as needed may be left \
         out.\n\nThis page is written by `esker schema --markdown`, from the same tables that read a scene.\n",
    );
    for (path, section) in sections() {
        let heading = if path.is_empty() { "The top of the file".to_string() } else { format!("`{path}`") };
        out += &format!("\n## {heading}\n\n{}\n\n", section.doc);
        out += "| Key | Value | Unit | Default | Meaning | Example |\n|---|---|---|---|---|---|\n";
        for key in section.keys {
            let default = match (key.required, key.default) {
                (true, _) => "needed",
                (false, default) => default.unwrap_or_default(),
            };
            let mut meaning = key.doc.to_string();
            if !key.only_for.is_empty() {
                meaning += &format!(" Only for {}.", key.only_for.join(", "));
            }
            let value = kind_name(&key.kind);
            let cells = [&format!("`{}`", key.name), &value, key.measure.unit, default, &meaning];
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            out += &format!("| {} | `{}` |\n", cells.join(" | "), key.example.replace('|', "\\|"));
        }
        for key in section.keys {
            if let Kind::Choice(choices) = key.kind {
                out += &format!("\n`{}`:\n\n", key.name);
                for (word, doc) in choices {
                    out += &format!("- `\"{word}\"`: {}\n", doc.trim());
                }
            }
        }
        let rules: Vec<String> = section.groups.iter().map(|group| rule_sentence(group.rule, group.keys)).collect();
        if !rules.is_empty() {
            out += &format!("\n{}\n", rules.join(" "));
        }
    }
    out
}

fn rule_sentence(rule: Rule, keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match rule {
        Rule::ExactlyOne => format!("Exactly one of {}.", quoted.join(", ")),
        Rule::AtMostOne => format!("At most one of {}.", quoted.join(", ")),
        Rule::AtLeastOne => format!("At least one of {}.", quoted.join(", ")),
        Rule::Needs => format!("{} only together with {}.", quoted[0], quoted[1..].join(" or ")),
    }
}

fn kind_name(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "true or false".to_string(),
        Kind::Count => "whole number".to_string(),
        Kind::Number => "number".to_string(),
        Kind::NumberOr(word) => format!("number or `\"{word}\"`"),
        Kind::Vector => "vector".to_string(),
        Kind::Text => "text".to_string(),
        Kind::Choice(_) => "choice".to_string(),
        Kind::Formula(_) => "formula".to_string(),
        Kind::Table(section) => format!("table `{}`", path_of(section)),
        Kind::Variables => "table".to_string(),
        Kind::Map(of) => format!("named: {}", kind_name(of)),
        Kind::List(of, ..) => format!("list: {}", kind_name(of)),
        Kind::OneOrList(of) => format!("{}, or a list", kind_name(of)),
        Kind::Row(fields) => {
            format!("[{}]", fields.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", "))
        }
        Kind::Either(kinds) => kinds.iter().map(kind_name).collect::<Vec<_>>().join(" or "),
    }
}
