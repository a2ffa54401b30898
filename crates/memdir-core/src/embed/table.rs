//! The table: a row of signed bytes per token and the scale of each row; and the middles of its topics.

use super::{DIMENSIONS, Row};

static ROWS: &[u8] = include_bytes!("../../assets/embedding/table.i8");
static SCALES: &[u8] = include_bytes!("../../assets/embedding/scale.f32");
static CENTROIDS: [Row; N_CENTROIDS] = signed(include_bytes!("../../assets/embedding/centroids.i8"));

/// How many topics the training texts were divided into.
const N_CENTROIDS: usize = 256;

/// Adds the row of a token, or as many of its components as `sum` has. Adds nothing for an id beyond the table, and for
/// tokens without a meaning, whose rows are zero.
pub(super) fn add_row<const N: usize>(id: u16, sum: &mut [f32; N]) {
    let (rows, _) = ROWS.as_chunks::<DIMENSIONS>();
    let (scales, _) = SCALES.as_chunks::<4>();
    let (Some(row), Some(&scale)) = (rows.get(usize::from(id)), scales.get(usize::from(id))) else {
        return;
    };
    let scale = f32::from_le_bytes(scale);
    for (total, &byte) in sum.iter_mut().zip(row) {
        *total += scale * f32::from(byte.cast_signed());
    }
}

/// The middles of the topics of the training texts, largest topic first.
pub(super) fn centroids() -> &'static [Row] {
    &CENTROIDS
}

/// Reads rows of bytes as rows of signed bytes, once, when the program is compiled.
const fn signed(bytes: &[u8; N_CENTROIDS * DIMENSIONS]) -> [Row; N_CENTROIDS] {
    let mut rows = [[0; DIMENSIONS]; N_CENTROIDS];
    let mut at = 0;
    while at < bytes.len() {
        rows[at / DIMENSIONS][at % DIMENSIONS] = bytes[at].cast_signed();
        at += 1;
    }
    rows
}
