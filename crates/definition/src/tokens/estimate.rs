//! An estimate of tokens that needs no vocabulary.

use super::byte_pairs::{Kind, Piece, pieces};

/// Tokens of ASCII words by their letters (0 to 15), in hundredths: first words that follow another piece directly,
/// then words after a space. Averages of o200k_base over tool descriptions and schemas, smoothed where words of a
/// length are rare.
type Costs = [[usize; 16]; 2];

const LOWER: Costs = [
    [100, 100, 102, 108, 103, 110, 106, 112, 116, 150, 115, 110, 195, 200, 240, 260],
    [100, 100, 100, 100, 100, 100, 100, 101, 101, 103, 104, 104, 107, 108, 110, 115],
];
const CAPITAL: Costs = [
    [100, 100, 103, 104, 106, 115, 115, 122, 125, 165, 135, 156, 166, 166, 180, 250],
    [100, 100, 100, 100, 107, 111, 111, 112, 115, 133, 133, 150, 148, 145, 155, 194],
];
const UPPER: Costs = [
    [100, 100, 114, 146, 152, 200, 206, 215, 257, 260, 290, 300, 360, 370, 390, 410],
    [100, 100, 100, 131, 127, 150, 145, 161, 190, 190, 225, 270, 310, 330, 350, 370],
];
/// Tokens of each further letter of longer words, in hundredths.
const FURTHER_LETTER: usize = 28;
/// Tokens of runs of ASCII punctuation by their length, in hundredths.
const MARKS: [usize; 8] = [100, 100, 101, 106, 126, 200, 280, 320];
const FURTHER_MARK: usize = 45;

/// An estimate of the o200k tokens of a text: instant, deterministic, and a few percent off.
pub fn estimate(text: &str) -> usize {
    let hundredths: usize = pieces(text).map(cost).sum();
    (hundredths + 50) / 100
}

fn cost(piece: Piece) -> usize {
    let of_word =
        |costs: &Costs| of_length(&costs[usize::from(piece.after_space)], FURTHER_LETTER, piece.length);
    match piece.kind {
        Kind::Lower => of_word(&LOWER),
        Kind::Capital => of_word(&CAPITAL),
        Kind::Upper => of_word(&UPPER),
        Kind::Ideographs => 70 + piece.length * 60,
        Kind::Letters => (30 + piece.length * 22).max(100),
        Kind::Digits | Kind::Space => 100,
        Kind::Marks => of_length(&MARKS, FURTHER_MARK, piece.length),
        Kind::Symbols => 50 + piece.length * 60,
    }
}

fn of_length(costs: &[usize], further: usize, length: usize) -> usize {
    let last = costs.len() - 1;
    costs[length.min(last)] + length.saturating_sub(last) * further
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [&str; 9] = [
        "Delete a task",
        "Get details about specific GitHub Actions resources.\nUse this tool to get details about individual \
         workflows, workflow runs, jobs, and artifacts by their unique IDs.\n",
        "Create a verified citation for document content.\n\nArgs:\n    text: Quoted text from the document (the \
         evidence)\n    page: Page number if applicable\n\nReturns:\n    Citation ID. Use [N] format in your text.",
        "使用必应搜索指定的关键词，并返回搜索结果列表，包括标题、链接、摘要和ID。",
        "Retrieves the OHLCV candles of a symbol (e.g. `BTC/USDT`); see https://example.com/docs/api?limit=100#candles.",
        r#"{"type":"object","properties":{"owner":{"type":"string","description":"Repository owner"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":30}},"required":["owner"],"additionalProperties":false}"#,
        "| op | tool |\n| --- | --- |\n| `onto.task.list` | `list_onto_tasks` |\n| `onto.task.get` | `get_onto_task_details` |\n",
        "✅ Use for: reading files.  ❌ Do NOT use for: directories, sockets, or anything over 10,000 lines!",
        "Создаёт задачу в указанном проекте и возвращает её идентификатор.",
    ];

    #[test]
    fn estimates_stay_close_to_the_real_counts() {
        let bpe = tiktoken::encoding::o200k_base();
        let mut estimated = 0.0;
        let mut exact = 0.0;
        for text in SAMPLES {
            let guess = estimate(text) as f64;
            let count = bpe.count(text) as f64;
            assert!((guess - count).abs() <= (count * 0.2).max(1.0), "{guess} for {count}: {text}");
            estimated += guess;
            exact += count;
        }
        assert!((estimated / exact - 1.0).abs() < 0.05, "{estimated} for {exact}");
        assert_eq!(estimate(""), 0);
    }
}
