//! What several readers of texts need to know of Korean.

/// Particles that are written onto a word, longest first.
pub(crate) const PARTICLES: &[&str] = &[
    "에서는",
    "으로는",
    "에게서",
    "이라는",
    "입니다",
    "에서",
    "에게",
    "에는",
    "으로",
    "까지",
    "부터",
    "보다",
    "처럼",
    "마다",
    "이나",
    "하고",
    "라는",
    "이다",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "에",
    "의",
    "로",
    "와",
    "과",
    "도",
    "만",
];

/// Says whether a character is a syllable of Hangul.
pub(crate) fn is_syllable(c: char) -> bool {
    ('\u{ac00}'..='\u{d7a3}').contains(&c)
}
