//! Presets: overlays that ship with toolcrib.

use serde::Deserialize;

use super::overlay::Overlay;

const PRESETS: [(&str, &str); 1] = [("buildos", include_str!("presets/buildos.toml"))];

/// The names that `presets` may hold.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The overlays of a preset, in order; `None` when there is no such preset.
pub(crate) fn preset(name: &str) -> Option<Vec<Overlay>> {
    #[derive(Deserialize)]
    struct Preset {
        overlay: Vec<Overlay>,
    }
    let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
    toml::from_str::<Preset>(text).ok().map(|preset| preset.overlay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_read() {
        for name in preset_names() {
            let overlays = preset(name).unwrap();
            assert!(
                overlays.iter().all(|overlay| !overlay.tools.is_empty() && overlay.tools.errors().is_empty())
            );
        }
    }
}
