//! A static model in a folder: a small one that is written here.

use std::path::Path;

use serde_json::{Value, json};

use super::TOOLS;
use crate::fixture::{self, run, text};

/// Words that are near each other point the same way.
const WORDS: [(&str, [f32; 4]); 8] = [
    ("[UNK]", [9.0, 9.0, 9.0, 9.0]),
    ("refund", [1.0, 0.0, 0.0, 0.0]),
    ("reimburs", [0.9, 0.1, 0.0, 0.0]),
    ("##e", [0.0, 0.0, 0.0, 0.1]),
    ("forecast", [0.0, 1.0, 0.0, 0.0]),
    ("rain", [0.1, 0.9, 0.0, 0.0]),
    ("branch", [0.0, 0.0, 1.0, 0.0]),
    ("payment", [0.7, 0.0, 0.0, 0.3]),
];

fn write(folder: &Path, kind: &str) {
    let vocabulary: serde_json::Map<String, Value> =
        WORDS.iter().enumerate().map(|(place, (word, _))| (word.to_string(), place.into())).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "decoder": {"type": "WordPiece"},
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null,
        "model": {"type": kind, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    let numbers: Vec<u8> =
        WORDS.iter().flat_map(|(_, vector)| vector).flat_map(|number| number.to_le_bytes()).collect();
    let header = json!({"embeddings": {"dtype": "F32", "shape": [WORDS.len(), 4], "data_offsets": [0, numbers.len()]}});
    let header = header.to_string();
    let tensors = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &numbers].concat();
    fixture::write(folder, "model/tokenizer.json", &tokenizer.to_string());
    fixture::write(folder, "model/config.json", "{\"model_type\": \"model2vec\", \"normalize\": true}");
    std::fs::write(folder.join("model/model.safetensors"), tensors).unwrap();
}

#[test]
fn a_model_in_a_folder_needs_no_network() {
    let config = "[[source]]\npath = \"tools.json\"\n[search.semantic]\nfolder = \"model\"\n";
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
    write(folder.path(), "WordPiece");
    let pick = |input: &str| {
        let arguments = json!({"input": input, "scorer": "embedding", "max_candidates": 1}).to_string();
        run(&["call", "pick", &arguments, "--offline", text(folder.path())])
    };
    for (input, tool) in [("Reimburse!", "refund_payment"), ("RAIN?", "get_forecast")] {
        let run = pick(input);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["candidates"][0]["tool"], tool, "{answer}");
        assert_eq!(answer["meta"]["semantic"], "on", "{answer}");
    }
    // A text of unknown words points nowhere.
    let answer: Value = serde_json::from_str(&pick("xyzzy").stdout).unwrap();
    assert_eq!(answer["candidates"], json!([]), "{answer}");

    write(folder.path(), "Unigram");
    let run = pick("rain");
    assert!(run.stderr.contains("its model is Unigram; only WordPiece is read"), "{}", run.stderr);
    assert_eq!(run.code, 0, "words answer all the same");
    std::fs::remove_file(folder.path().join("model/config.json")).unwrap();
    assert!(pick("rain").stderr.contains("config.json of the model: "));
}
