//! What is in a settings file.

/// The lines of a text that are not comments.
pub fn settings(text: &str) -> Vec<&str> {
    let mut settings = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        settings.push(line);
    }
    settings
}
