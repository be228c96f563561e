//! The little XML that the files of this crate use: attributes of a tag, and the five entities.

/// Names and values of the attributes of a tag, `a="1" b='2'`, or what is wrong with them.
pub(crate) fn attributes(text: &str) -> Result<Vec<(&str, String)>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or_else(|| format!("expected name=\"value\", found `{rest}`"))?;
        let name = name.trim();
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or_else(|| format!("the value of `{name}` is not in quotes"))?;
        let (value, after) =
            after[1..].split_once(quote).ok_or_else(|| format!("the value of `{name}` has no closing quote"))?;
        found.push((name, unescape(value)?));
        rest = after.trim_start();
    }
    Ok(found)
}

/// The inverse of [`escape`].
pub(crate) fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain += &rest[..at];
        let (entity, after) = rest[at + 1..].split_once(';').ok_or_else(|| format!("`&` without `;` in `{text}`"))?;
        plain.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            other => return Err(format!("unknown entity `&{other};` in `{text}`")),
        });
        rest = after;
    }
    Ok(plain + rest)
}

/// Text made safe for an XML attribute. Control characters, which XML cannot hold, become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&apos;",
            '\u{0}'..'\u{20}' | '\u{7f}'..'\u{a0}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
