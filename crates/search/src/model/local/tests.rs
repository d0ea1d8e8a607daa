//! Small models that are written here.

use serde_json::json;

use super::*;

fn tokenizer(more: &[(&str, Value)]) -> Value {
    let mut tokenizer = json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "play": 1, "##ing": 2, "music": 3, "cafe": 4, "文": 5, ",": 6}}
    });
    for (pointer, value) in more {
        *tokenizer.pointer_mut(pointer).unwrap() = value.clone();
    }
    tokenizer
}

fn tensors(dtype: &str, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let header =
        json!({"embeddings": {"dtype": dtype, "shape": shape, "data_offsets": [0, bytes.len()]}}).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), bytes].concat()
}

/// A model in which each piece points its own way.
fn seven() -> Vec<u8> {
    let rows = (0..7).flat_map(|row| (0..7).map(move |column| if row == column { 1.0_f32 } else { 0.0 }));
    tensors("F32", &[7, 7], &rows.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}

fn read(tokenizer: &Value, tensors: &[u8]) -> Result<StaticModel, String> {
    StaticModel::read(tokenizer.to_string().as_bytes(), tensors, b"{\"normalize\": false}", "test".into())
}

#[test]
fn a_text_is_the_mean_of_its_pieces() {
    let model = read(&tokenizer(&[]), &seven()).unwrap();
    assert_eq!(model.pieces.split("Playing music, CAFÉ 文", 99), [1, 2, 3, 6, 4, 5]);
    assert_eq!(model.vector("playing"), [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]);
    // Unknown words, and none at all, point nowhere.
    for nothing in ["", "zzz playful [UNK]zz", "\u{0}\u{fffd}", &"x".repeat(500)] {
        assert_eq!(model.vector(nothing), [0.0; 7], "{nothing}");
    }
    assert_eq!(model.pieces.split(&"music ".repeat(10_000), MAX_PIECES).len(), MAX_PIECES);
}

#[test]
fn other_kinds_of_files_are_refused_in_words() {
    let refused = |tokenizer: Value, tensors: &[u8]| read(&tokenizer, tensors).unwrap_err();
    let unigram = refused(tokenizer(&[("/model/type", json!("Unigram"))]), &seven());
    assert_eq!(
        unigram,
        "tokenizer.json: its model is Unigram; only WordPiece is read, as models such as potion-base have it"
    );
    assert!(
        refused(tokenizer(&[("/pre_tokenizer", json!({"type": "Metaspace"}))]), &seven())
            .contains("Metaspace")
    );
    assert!(
        refused(tokenizer(&[("/normalizer", Value::Null)]), &seven()).contains("its normalizer is nothing")
    );
    assert!(refused(tokenizer(&[("/model/vocab/music", json!(7))]), &seven()).contains("wants more"));
    let whole = seven();
    for end in [0, 4, 8, 40, whole.len() - 1] {
        assert!(refused(tokenizer(&[]), &whole[..end]).starts_with("model.safetensors: "));
    }
    let huge = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    assert!(refused(tokenizer(&[]), &huge).contains("no safetensors"));
    assert!(refused(tokenizer(&[]), &tensors("F32", &[usize::MAX, 2], &[0; 8])).contains("another size"));
    assert!(refused(tokenizer(&[]), &tensors("Q4", &[7, 1], &[0; 7])).contains("Q4, which is not read"));
    let nan: Vec<u8> = [f32::NAN; 7].iter().flat_map(|number| number.to_le_bytes()).collect();
    assert!(refused(tokenizer(&[]), &tensors("F32", &[7, 1], &nan)).contains("an invalid number"));
    // Eight bits do as well.
    assert_eq!(
        read(&tokenizer(&[]), &tensors("I8", &[7, 1], &[1, 2, 3, 4, 5, 6, 255])).unwrap().vector(","),
        [-1.0]
    );
}

#[test]
fn halves_are_read() {
    let known = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2.0_f32.powi(-24)), (0, 0.0)];
    for (bits, number) in known {
        assert_eq!(half(bits), number);
    }
    assert!(half(0x7c01).is_nan() && half(0xfc00) == f32::NEG_INFINITY);
}
