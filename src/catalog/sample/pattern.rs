//! A string for a simple regular expression: classes, groups, alternatives, repeats and anchors.

use std::iter::Peekable;
use std::str::Chars;

const MAX_OUTPUT: usize = 200;
const MAX_COST: usize = 5_000;
const MAX_DEPTH: usize = 6;
/// Repeats of an element that may be repeated without limit: enough for a telling example.
const USUAL_REPEATS: usize = 3;

/// Estimated work to compile a pattern, by its length and its counts; nested counts multiply.
pub(super) fn cost(pattern: &str) -> usize {
    let (mut all, mut of_groups) = (1usize, 1usize);
    for (at, _) in pattern.match_indices('{') {
        let counts = pattern[at + 1..].split(|c: char| !c.is_ascii_digit()).take(2);
        let most = counts.filter_map(|count| count.parse::<usize>().ok()).max().unwrap_or(1).min(MAX_COST);
        all = all.saturating_add(most);
        if pattern[..at].ends_with(')') {
            of_groups = of_groups.saturating_mul(most.max(1));
        }
    }
    200 + all.saturating_mul(of_groups).saturating_add(pattern.len()).saturating_mul(10).min(MAX_COST)
}

/// A string that a pattern should match; `None` for patterns outside this subset.
pub(super) fn generate(pattern: &str) -> Option<String> {
    let mut parser = Parser { rest: pattern.chars().peekable(), depth: 0 };
    let out = parser.alternatives()?;
    (parser.rest.peek().is_none() && out.len() <= MAX_OUTPUT).then_some(out)
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

/// The output of one element of a pattern.
enum Atom {
    Text(String),
    OneOf(Vec<char>),
}

impl Parser<'_> {
    /// The first alternative; the others are read and dropped.
    fn alternatives(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.rest.next_if_eq(&'|').is_some() {
            self.sequence()?;
        }
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(&c) = self.rest.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            let Some(atom) = self.atom()? else { continue };
            let times = self.repeats()?;
            match atom {
                Atom::Text(text) => (0..times.min(MAX_OUTPUT)).for_each(|_| out.push_str(&text)),
                Atom::OneOf(chars) => out.extend(chars.iter().cycle().take(times.min(MAX_OUTPUT))),
            }
            if out.len() > MAX_OUTPUT * 4 {
                return None;
            }
        }
        Some(out)
    }

    /// The next element; `Some(None)` for an anchor, which produces nothing.
    fn atom(&mut self) -> Option<Option<Atom>> {
        Some(Some(match self.rest.next()? {
            '^' | '$' => return Some(None),
            '(' => Atom::Text(self.group()?),
            '[' => Atom::OneOf(self.class()?),
            '.' => Atom::OneOf(usual(|_| true)),
            '\\' => match self.rest.next()? {
                'b' | 'A' | 'z' => return Some(None),
                escape => escaped(escape)?,
            },
            '*' | '+' | '?' => return None,
            c => Atom::Text(c.to_string()),
        }))
    }

    fn group(&mut self) -> Option<String> {
        if self.rest.next_if_eq(&'?').is_some() {
            self.rest.next_if_eq(&':')?;
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let out = self.alternatives()?;
        self.depth -= 1;
        self.rest.next_if_eq(&')')?;
        Some(out)
    }

    fn class(&mut self) -> Option<Vec<char>> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let mut low = self.rest.next()?;
            if low == ']' {
                break;
            }
            if low == '\\' {
                match escaped(self.rest.next()?)? {
                    Atom::OneOf(chars) => {
                        ranges.extend(chars.into_iter().map(|c| (c, c)));
                        continue;
                    }
                    Atom::Text(text) => low = text.chars().next()?,
                }
            }
            let mut high = low;
            if self.rest.next_if_eq(&'-').is_some() {
                match self.rest.peek()? {
                    ']' => ranges.push(('-', '-')),
                    _ => high = self.rest.next().filter(|c| *c != '\\')?,
                }
            }
            ranges.push((low, high));
        }
        let holds = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != negated;
        let usual = usual(holds);
        let chars =
            if usual.is_empty() { ranges.iter().take(1).map(|(low, _)| *low).collect() } else { usual };
        (!chars.is_empty()).then_some(chars)
    }

    fn repeats(&mut self) -> Option<usize> {
        let times = match self.rest.peek() {
            Some('*') => 0,
            Some('?') => 0,
            Some('+') => USUAL_REPEATS,
            Some('{') => return self.counted(),
            _ => return Some(1),
        };
        self.rest.next();
        self.rest.next_if_eq(&'?');
        Some(times)
    }

    fn counted(&mut self) -> Option<usize> {
        self.rest.next();
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| *c != '}') {
            text.push(c);
        }
        self.rest.next()?;
        self.rest.next_if_eq(&'?');
        let (low, high) = text.split_once(',').unwrap_or((&text, &text));
        let low: usize = low.parse().ok()?;
        let high = if high.is_empty() { low.max(USUAL_REPEATS) } else { high.parse().ok()? };
        Some(low.max(high.min(USUAL_REPEATS)))
    }
}

fn escaped(c: char) -> Option<Atom> {
    Some(match c {
        'd' => Atom::OneOf(usual(|c| c.is_ascii_digit())),
        'w' => Atom::OneOf(usual(|c| c.is_ascii_alphanumeric() || c == '_')),
        's' => Atom::Text(" ".to_string()),
        'S' => Atom::OneOf(usual(|_| true)),
        'D' => Atom::OneOf(usual(|c| !c.is_ascii_digit())),
        't' => Atom::Text("\t".to_string()),
        'n' => Atom::Text("\n".to_string()),
        c if c.is_ascii_alphanumeric() => return None,
        c => Atom::Text(c.to_string()),
    })
}

/// The usual characters that pass a test, small letters before capitals and digits.
fn usual(holds: impl Fn(char) -> bool) -> Vec<char> {
    const USUAL: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890";
    USUAL.chars().filter(|c| holds(*c)).collect()
}
