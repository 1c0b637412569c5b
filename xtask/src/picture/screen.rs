//! [`Screen`]: what a terminal shows at one moment.

/// The rows, each split into runs of one style.
#[derive(Clone, PartialEq)]
pub(super) struct Screen {
    pub(super) rows: Vec<Row>,
}

pub(super) type Row = Vec<Run>;

/// Adjacent characters of one style.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) column: u16,
    /// How many columns it occupies.
    pub(super) width: u16,
    /// Whether it is one wide character.
    pub(super) is_wide: bool,
    pub(super) text: String,
    pub(super) style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) colour: Option<u8>,
    pub(super) is_bold: bool,
    pub(super) is_dim: bool,
    pub(super) is_italic: bool,
}

impl Screen {
    pub(super) fn of(terminal: &vt100::Parser) -> Self {
        let (height, width) = terminal.screen().size();
        let rows = (0..height.get()).map(|row| {
            let mut runs = Row::new();
            for column in 0..width.get() {
                if let Some(cell) = terminal.screen().cell(row, column) {
                    add(&mut runs, column, cell);
                }
            }
            runs.retain_mut(trim);
            runs
        });
        Self { rows: rows.collect() }
    }
}

fn add(runs: &mut Row, column: u16, cell: &vt100::Cell) {
    if !cell.has_contents() {
        return;
    }
    let style = Style {
        colour: if let vt100::Color::Idx(colour) = cell.fgcolor() { Some(colour) } else { None },
        is_bold: cell.bold(),
        is_dim: cell.dim(),
        is_italic: cell.italic(),
    };
    let width = if cell.is_wide() { 2 } else { 1 };
    match runs.last_mut() {
        Some(last)
            if last.style == style && last.column + last.width == column && !last.is_wide && width == 1 =>
        {
            last.text.push_str(cell.contents());
            last.width += 1;
        }
        _ => {
            let text = cell.contents().to_owned();
            runs.push(Run { column, width, is_wide: cell.is_wide(), text, style });
        }
    }
}

/// Removes the whitespace at both ends, which is invisible. Returns whether anything is left.
fn trim(run: &mut Run) -> bool {
    let before = run.text.len() - run.text.trim_start().len();
    let whitespace = run.text.len() - run.text.trim().len();
    run.text = run.text.trim().to_owned();
    let columns = |whitespace| u16::try_from(whitespace).unwrap_or(u16::MAX);
    run.column += columns(before);
    run.width = run.width.saturating_sub(columns(whitespace));
    !run.text.is_empty()
}
