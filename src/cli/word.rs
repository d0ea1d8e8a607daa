//! Words of enums as arguments.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantArray;

/// One word of an enum; help and completions list them all.
pub(super) fn word<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + Into<&'static str> + Copy + Send + Sync,
{
    let words = T::VARIANTS.iter().map(|&variant| variant.into());
    PossibleValuesParser::new(words).try_map(|word| {
        let named = |variant: &&T| Into::<&'static str>::into(**variant) == word;
        T::VARIANTS.iter().find(named).copied().ok_or("unknown name")
    })
}
