//! An argument list as values, and as markdown.

/// The argument list of a tool; all text in it is markdown.
#[derive(Debug, Default)]
pub struct Arguments {
    /// One sentence where there are no arguments, or where the list needs an introduction.
    pub remark: String,
    /// The arguments and their fields, then the types that they name.
    pub rows: Vec<Row>,
    /// Index of the first row of the types, if there are any.
    pub types_from: Option<usize>,
    /// Whether rows were left out, so that a reader may need the schema itself.
    pub folded: bool,
}

/// An argument, a field, an alternative or a remark. All text is markdown on one line.
#[derive(Debug, Default)]
pub struct Row {
    /// Number of rows that it is nested in.
    pub depth: usize,
    /// Its name, or the text of a remark.
    pub label: String,
    /// Type, limits and default of its value; `None` where it has no value.
    pub facts: Option<Facts>,
    /// Its description; may be empty.
    pub about: String,
}

/// Type, limits and default of a value.
#[derive(Debug, Default)]
pub struct Facts {
    /// Its type in words.
    pub kind: String,
    /// Whether it is required; `None` where that makes no sense.
    pub is_required: Option<bool>,
    /// Further limits, each a short phrase.
    pub limits: Vec<String>,
    /// Its default, or an example value.
    pub given: Option<Given>,
    /// Whether it is deprecated.
    pub is_deprecated: bool,
}

/// A value that says more than a type.
#[derive(Debug)]
pub enum Given {
    /// The value when none is given.
    Default(String),
    /// One of many possible values.
    Example(String),
}

impl Arguments {
    /// The list as bullets under their remark.
    pub(crate) fn markdown(&self) -> String {
        let mut out = self.remark.clone();
        if !out.is_empty() {
            out.push('\n');
        }
        for (index, row) in self.rows.iter().enumerate() {
            if self.types_from == Some(index) {
                out.push_str("\n**Types:**\n");
            }
            row.write(&mut out);
        }
        out.truncate(out.trim_end().len());
        out
    }
}

impl Row {
    fn write(&self, out: &mut String) {
        out.extend(std::iter::repeat_n("  ", self.depth));
        out.push_str("- ");
        out.push_str(&self.label);
        if let Some(facts) = &self.facts {
            facts.write(out);
        }
        if !self.about.is_empty() {
            out.push_str(": ");
            out.push_str(&self.about);
        }
        out.push('\n');
    }
}

impl Facts {
    fn write(&self, out: &mut String) {
        out.push_str(" (");
        out.push_str(&self.kind);
        if self.is_required == Some(false) {
            out.push_str(", optional");
        }
        for limit in &self.limits {
            out.push_str(", ");
            out.push_str(limit);
        }
        match &self.given {
            Some(Given::Default(value)) => out.extend([", default ", value]),
            Some(Given::Example(value)) => out.extend([", e.g. ", value]),
            None => {}
        }
        if self.is_deprecated {
            out.push_str(", deprecated");
        }
        out.push(')');
    }
}
