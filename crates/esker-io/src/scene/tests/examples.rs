//! The tables of keys against the reader, the structs, the schema and the reference page.

use super::super::keys::{self, Key, Kind};
use super::super::node::{Content, Node, TableNode};
use super::super::{check_and_keep, schema, tables};

/// Every table under its way through the file, holding `key` and what else the key needs to be accepted.
fn scene_with(path: &str, section: &keys::Section, key: &Key) -> String {
    let mut lines: Vec<(&str, &str)> = vec![];
    let tag = section.tag.filter(|tag| *tag != key.name).zip(key.only_for.first());
    let add = |lines: &mut Vec<(&'static str, &'static str)>, name: &str| {
        let key = section.key(name).unwrap();
        if !lines.iter().any(|(known, _)| *known == key.name) {
            lines.push((key.name, key.example));
        }
    };
    add(&mut lines, key.name);
    // The choice decides what else must be there: that of the key, or the example of the choice.
    let example = section.tag.and_then(|tag| section.key(tag)).map(|key| key.example.trim_matches('"'));
    let word = key.only_for.first().copied().or(example);
    let goes = |other: &Key| other.only_for.is_empty() || word.is_some_and(|word| other.only_for.contains(&word));
    for other in section.keys.iter().filter(|other| other.required && goes(other)) {
        add(&mut lines, other.name);
    }
    for group in section.groups {
        let given = |lines: &[(&str, &str)]| group.keys.iter().any(|name| lines.iter().any(|(known, _)| known == name));
        match group.rule {
            keys::Rule::Needs if lines.iter().any(|(name, _)| *name == group.keys[0]) => {
                let met = group.keys[1..].iter().any(|name| lines.iter().any(|(known, _)| known == name));
                if !met {
                    add(&mut lines, group.keys[1]);
                }
            }
            keys::Rule::Needs | keys::Rule::AtMostOne => {}
            _ if !given(&lines) => {
                // The one another rule asks for, if there is one.
                let asked = section.groups.iter().find(|other| {
                    other.rule == keys::Rule::Needs && lines.iter().any(|(name, _)| *name == other.keys[0])
                });
                add(&mut lines, asked.map_or(group.keys[0], |asked| asked.keys[1]));
            }
            _ => {}
        }
    }
    // Rules that come before what they need.
    for group in section.groups.iter().filter(|group| group.rule == keys::Rule::Needs) {
        let has = |name: &str, lines: &[(&str, &str)]| lines.iter().any(|(known, _)| *known == name);
        if has(group.keys[0], &lines) && !group.keys[1..].iter().any(|name| has(name, &lines)) {
            add(&mut lines, group.keys[1]);
        }
    }
    let body: Vec<String> = lines
        .iter()
        .map(|(name, example)| match tag {
            Some((tag, word)) if tag == *name => format!("{tag} = \"{word}\""),
            _ => format!("{name} = {example}"),
        })
        .collect();
    wrap(path, &body.join(", "), &body.join("\n"))
}

/// The table put at its place in the file, with the tables around it.
fn wrap(path: &str, inline: &str, lines: &str) -> String {
    if path.is_empty() {
        return lines.to_string();
    }
    let (header, inner) = path.split_once(' ').unwrap_or((path, ""));
    if inner.is_empty() {
        return format!("{}\n{lines}\n", header.replace("NAME", "a"));
    }
    let mut value = format!("{{ {inline} }}");
    let mut names: Vec<&str> = inner.split('.').collect();
    let innermost = names.pop().unwrap();
    if innermost == "schedule" {
        value = format!("[{value}]");
    }
    let mut statement = format!("{innermost} = {value}");
    // What the enclosing tables need besides.
    for name in names.into_iter().rev() {
        let besides = match name {
            "fill" => "method = \"random\", ",
            "probe" => "name = \"p\", ",
            "mesh" => "file = \"a.stl\", ",
            _ => "",
        };
        statement = format!("{name} = {{ {besides}{statement} }}");
    }
    let besides = match header {
        "[[wall]]" if inner.starts_with("gap") => "name = \"w\"\nmaterial = \"m\"\npolyline = [[0, 0, 0], [1, 0, 0]]\n",
        "[[wall]]" if inner.starts_with("motion") => {
            "name = \"w\"\nmaterial = \"m\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n"
        }
        "[[wall]]" => "name = \"w\"\nmaterial = \"m\"\n",
        "[[grains]]" if inner.starts_with("fill") => "name = \"g\"\nmaterial = \"m\"\n",
        "[[grains]]" => "name = \"g\"\nmaterial = \"m\"\nfill = { method = \"random\" }\n",
        "[[stage]]" if inner.starts_with("until") => "name = \"s\"\n",
        "[[stage]]" => "name = \"s\"\nduration = 1\n",
        _ => "",
    };
    format!("{}\n{besides}{statement}\n", header.replace("NAME", "a"))
}

fn untaken(table: &TableNode, out: &mut Vec<String>) {
    fn walk(node: &Node, out: &mut Vec<String>) {
        match &node.value {
            Content::Table(table) => untaken(table, out),
            Content::List(nodes) => nodes.iter().for_each(|node| walk(node, out)),
            Content::Map(entries) => entries.iter().for_each(|(_, node)| walk(node, out)),
            _ => {}
        }
    }
    for entry in &table.entries {
        if !entry.taken.get() {
            out.push(format!("{}.{}", table.section.name, entry.name));
        }
        walk(&entry.node, out);
    }
}

#[test]
fn the_example_of_every_key_is_accepted_and_reaches_a_struct() {
    let mut keys = 0;
    for (path, section) in tables::sections() {
        for key in section.keys {
            let text = scene_with(&path, section, key);
            match check_and_keep(&text, "example.toml", &[]) {
                Err(errors) => panic!("{path} {}: {}\n{text}", key.name, errors[0]),
                Ok((_, table)) => {
                    let mut left = vec![];
                    untaken(&table, &mut left);
                    assert!(left.is_empty(), "{left:?} of\n{text}");
                }
            }
            keys += 1;
        }
    }
    assert!(keys > 150, "{keys}");
}

#[test]
fn the_tables_are_consistent() {
    for (path, section) in tables::sections() {
        let mut names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), section.keys.len(), "{path}: a key twice");
        for name in section.groups.iter().flat_map(|group| group.keys) {
            assert!(section.key(name).is_some(), "{path}: no key {name}");
        }
        for key in section.keys {
            assert!(key.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{} is not kebab-case", key.name);
            assert!(!key.doc.is_empty() && !key.example.is_empty(), "{path} {}", key.name);
            for word in key.only_for {
                let tag = section.tag.and_then(|tag| section.key(tag)).unwrap();
                let Kind::Choice(choices) = tag.kind else { panic!("{path}: the tag is no choice") };
                assert!(choices.iter().any(|(known, _)| known == word), "{path} {}: {word}", key.name);
            }
        }
    }
}

#[test]
fn schema_and_reference_page_hold_every_key_and_only_existing_references() {
    let schema = schema::json_schema();
    let page = schema::markdown();
    let definitions = schema["$defs"].as_object().unwrap();
    let text = schema.to_string();
    for reference in text.split("\"$ref\":\"#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
    assert_eq!(definitions.len() + 1, tables::sections().len(), "two sections share a name");
    for (path, section) in tables::sections() {
        for key in section.keys {
            assert!(page.contains(&format!("| `{}` |", key.name)), "{path} {}", key.name);
        }
    }
    assert_eq!(schema["properties"]["seed"]["anyOf"][0]["type"], "integer");
    assert_eq!(definitions["wall"]["required"], serde_json::json!(["name", "material"]));
}
