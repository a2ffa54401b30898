//! What a text is about, as 256 numbers: a small embedding inside the binary.
//!
//! Two texts that mean the same in other words have vectors that point the same way, which word match cannot see.
//! There is no model to run: the text is cut into tokens ([`tokens`]), each token has a row in a table, and the
//! vector is the sum of the rows, scaled to length 1. A row's own length says how much its token matters; rows of
//! `the` and `of` are short. The order of words does not count, nor does negation, and English is the only language
//! the table knows: it finds candidates, it proves nothing.
//!
//! Nothing is built at start. Table and vocabulary are read where they lie in the binary, so the first text of a
//! process costs as little as any other. How the table was made: `training/embedding/README.md`.
//!
//! Look at [`vector`] first, then at [`Vector::to_bytes`], the form in which vectors are stored and compared.

mod character;
mod table;
mod vocabulary;
mod wordpiece;

pub use wordpiece::{MAX_TOKENS, tokens};

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 256;

/// How many numbers a coarser vector has; see [`Vector::components`].
pub(crate) const COARSE: usize = 128;

/// What 1.0 becomes in a row of bytes.
///
/// No component of a vector of length 1 can be larger than 1, so nothing is ever cut off. A finer scale would have to
/// cut: components of up to 0.65 occur in ordinary prose. What rounding costs is small: the cosine of two texts moves
/// by 0.003 (root mean square over four million pairs).
const BYTE_SCALE: f32 = 127.0;

/// The dot product of two equal rows of bytes; `dot(a, b) as f32 / DOT_SCALE` is the cosine of the two texts.
pub const DOT_SCALE: f32 = BYTE_SCALE * BYTE_SCALE;

/// A vector as it is stored: one signed byte a component.
pub type Row = [i8; DIMENSIONS];

/// The vector of a text: [`DIMENSIONS`] numbers, length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector([f32; DIMENSIONS]);

/// Computes the vector of a text from its first [`MAX_TOKENS`] tokens.
///
/// `None` when nothing in the text is known to the table: an empty text, or only unknown words.
pub fn vector(text: &str) -> Option<Vector> {
    vector_of(&tokens(text))
}

/// Computes the vector of a text from its tokens.
pub fn vector_of(tokens: &[u16]) -> Option<Vector> {
    Vector::pointing(sum_of(tokens))
}

/// Computes the first components of the vector of a text from its tokens, as bytes of a vector of their own: coarser than
/// the whole, and half the work.
pub(crate) fn coarse_of(tokens: &[u16]) -> [i8; COARSE] {
    coarse(&sum_of(tokens))
}

/// Scales some components to length 1 and makes bytes of them.
pub(crate) fn coarse(first: &[f32; COARSE]) -> [i8; COARSE] {
    let length = product(first, first).sqrt();
    if length == 0.0 { [0; COARSE] } else { first.map(|x| rounded(x / length * BYTE_SCALE)) }
}

/// Adds up the rows of some tokens.
fn sum_of<const N: usize>(tokens: &[u16]) -> [f32; N] {
    let mut sum = [0.0; N];
    for id in tokens {
        table::add_row(*id, &mut sum);
    }
    sum
}

/// Computes the vector of one word, with the length of its row: how much the word matters in any text.
pub fn word(word: &str) -> Option<(Vector, f32)> {
    let sum: [f32; DIMENSIONS] = sum_of(&tokens(word));
    let length = product(&sum, &sum).sqrt();
    Vector::pointing(sum).map(|vector| (vector, length))
}

/// Lists the middles of the 256 topics that the training texts fall into, for dividing a large index into parts.
pub fn centroids() -> &'static [Row] {
    table::centroids()
}

/// The dot product of two rows, at most [`DOT_SCALE`] but for rounding.
///
/// Summed up in blocks of 16, for which the compiler finds the processor's multiply-and-add: twice as fast as one long
/// sum.
pub fn dot(a: &Row, b: &Row) -> i32 {
    let (a, _) = a.as_chunks::<16>();
    let (b, _) = b.as_chunks::<16>();
    let product = |(&a, &b): (&i8, &i8)| i32::from(a) * i32::from(b);
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(product).sum::<i32>()).sum()
}

impl Vector {
    /// The vector of length 1 that points where `sum` points; `None` if that is nowhere.
    fn pointing(mut sum: [f32; DIMENSIONS]) -> Option<Vector> {
        let length = product(&sum, &sum).sqrt();
        if length == 0.0 {
            return None;
        }
        sum.iter_mut().for_each(|x| *x /= length);
        Some(Vector(sum))
    }

    /// The components, most important directions first: the first 128 are a coarser vector of their own.
    pub fn components(&self) -> &[f32; DIMENSIONS] {
        &self.0
    }

    /// How alike two texts are, from -1 to 1. Unrelated English texts are around 0.04.
    pub fn cosine(&self, other: &Vector) -> f32 {
        product(&self.0, &other.0)
    }

    /// The form in which a vector is stored and compared, see [`DOT_SCALE`].
    pub fn to_bytes(&self) -> Row {
        self.0.map(|x| rounded(x * BYTE_SCALE))
    }
}

/// The sum of the products of two lists of numbers.
///
/// Sixteen sums run beside each other, because one alone waits for each of its additions: that takes ten times as long.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The nearest whole number. Unlike the one of the standard library it is no call of a function.
fn rounded(x: f32) -> i8 {
    (x + 0.5_f32.copysign(x)) as i8
}

#[cfg(test)]
mod tests;
