//! What models cost, as far as was known on a certain day.
//!
//! Prices change and models come; the table only has to be right enough for a cap to hold. So a model is found by how its
//! name begins, the dearer price counts where a vendor has two, and whatever is not found costs as much as an expensive
//! model. Users who know better say so in their settings.

use super::Usd;

/// The day of the newest rows. Anthropic's current models are from its own pages, OpenAI's from other people's lists; `gpt-5`
/// is a guess on the high side, and rows of older models were not all looked up anew.
pub const PRICES_AS_OF: &str = "2026-11-16";

/// What a model costs, in millionths of a US dollar for a million tokens: the same number as dollars for a million, times
/// a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Read anew.
    pub input: u64,
    /// Read from the prompt cache.
    pub cached: u64,
    /// Read anew and kept in the prompt cache.
    pub stored: u64,
    /// Written.
    pub output: u64,
}

impl Price {
    /// What costs nothing: a model on the user's own machine, or one that comes with a subscription.
    pub const FREE: Self = Self { input: 0, cached: 0, stored: 0, output: 0 };

    /// A price of which only two numbers are known; cached tokens are taken for new ones.
    pub fn plain(input: Usd, output: Usd) -> Self {
        Self { input: input.0, cached: input.0, stored: input.0, output: output.0 }
    }

    /// Returns what so many tokens cost, rounded up to a millionth of a dollar.
    pub fn of(&self, input: u64, cached: u64, stored: u64, output: u64) -> Usd {
        let parts =
            [(self.input, input), (self.cached, cached), (self.stored, stored), (self.output, output)];
        let sum: u128 = parts.iter().map(|&(price, tokens)| u128::from(price) * u128::from(tokens)).sum();
        Usd(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// Returns what a request costs at most, if so many tokens are read and written.
    pub fn at_most(&self, read: u64, written: u64) -> Usd {
        self.of(0, 0, 0, written) + Usd(self.of(read, 0, 0, 0).0.max(self.of(0, 0, read, 0).0))
    }
}

/// Dollars for a million tokens: how a name begins, then input, cached, stored, output. The first that fits counts, so the
/// longer beginning stands before the shorter one.
#[rustfmt::skip]
const TABLE: &[(&str, [f64; 4])] = &[
    ("claude-fable-5-1",  [10.0, 0.25, 12.5, 50.0]),
    ("claude-fable",      [10.0, 1.0, 12.5, 50.0]),
    ("claude-opus-5-5",   [4.0, 0.2, 5.0, 20.0]),
    ("claude-opus-5",     [5.0, 0.5, 6.25, 25.0]),
    ("claude-opus-4-5",   [5.0, 0.5, 6.25, 25.0]),
    ("claude-opus-4-6",   [5.0, 0.5, 6.25, 25.0]),
    ("claude-opus-4-7",   [5.0, 0.5, 6.25, 25.0]),
    ("claude-opus-4-8",   [5.0, 0.5, 6.25, 25.0]),
    ("claude-opus-4",     [15.0, 1.5, 18.75, 75.0]),
    ("claude-sonnet-5-5", [2.0, 0.1, 2.5, 10.0]),
    ("claude-sonnet-5",   [2.0, 0.2, 2.5, 10.0]),
    ("claude-sonnet-4",   [3.0, 0.3, 3.75, 15.0]),
    ("claude-haiku-5-5",  [0.5, 0.05, 0.625, 2.5]),
    ("claude-haiku-4-5",  [1.0, 0.1, 1.25, 5.0]),
    ("claude-3-5-haiku",  [0.8, 0.08, 1.0, 4.0]),
    ("gpt-5.5-pro",       [30.0, 30.0, 30.0, 180.0]),
    ("gpt-5.5",           [5.0, 0.5, 5.0, 30.0]),
    ("gpt-5.4-pro",       [30.0, 30.0, 30.0, 180.0]),
    ("gpt-5.4-mini",      [0.75, 0.075, 0.75, 4.5]),
    ("gpt-5.4-nano",      [0.2, 0.02, 0.2, 1.25]),
    ("gpt-5.4",           [2.5, 0.25, 2.5, 15.0]),
    ("gpt-5-mini",        [0.25, 0.025, 0.25, 2.0]),
    ("gpt-5-nano",        [0.05, 0.005, 0.05, 0.4]),
    ("gpt-5-pro",         [15.0, 15.0, 15.0, 120.0]),
    ("gpt-5",             [1.75, 0.175, 1.75, 14.0]),
    ("gpt-4.1-nano",      [0.1, 0.025, 0.1, 0.4]),
    ("gpt-4.1-mini",      [0.4, 0.1, 0.4, 1.6]),
    ("gpt-4.1",           [2.0, 0.5, 2.0, 8.0]),
    ("gpt-4o-mini",       [0.15, 0.075, 0.15, 0.6]),
    ("gpt-4o",            [2.5, 1.25, 2.5, 10.0]),
];

/// What a model costs that is not in the table.
const UNKNOWN: [f64; 4] = [15.0, 15.0, 18.75, 75.0];

/// Returns what a model costs, and whether that is known. A vendor's name before a slash, as resellers write it, does not
/// count.
pub fn price_of(model: &str) -> (Price, bool) {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let found = TABLE.iter().find(|(beginning, _)| name.starts_with(beginning));
    let [input, cached, stored, output] = found.map_or(UNKNOWN, |(_, price)| *price).map(micros);
    (Price { input, cached, stored, output }, found.is_some())
}

fn micros(dollars: f64) -> u64 {
    Usd::from_dollars(dollars).map_or(u64::MAX, |usd| usd.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_how_its_name_begins_also_behind_a_vendor() {
        let input = |model| price_of(model).0.input;
        assert_eq!(input("claude-haiku-4-5-20251001"), 1_000_000);
        assert_eq!(input("anthropic/claude-sonnet-4-5"), 3_000_000);
        assert_eq!(input("gpt-5.4-mini-2026-03-01"), 750_000);
        assert_eq!(input("claude-opus-5-5"), 4_000_000);
        assert_eq!(input("claude-opus-4-20250514"), 15_000_000);
    }

    #[test]
    fn no_beginning_in_the_table_hides_a_longer_one() {
        for (at, (name, _)) in TABLE.iter().enumerate() {
            let hidden = TABLE[..at].iter().find(|(earlier, _)| name.starts_with(earlier));
            assert!(hidden.is_none(), "{name} is never found");
        }
    }

    #[test]
    fn an_unknown_model_is_dear() {
        let (price, is_known) = price_of("somebody's-model");
        assert!(!is_known);
        assert_eq!(price.of(1_000_000, 0, 0, 1_000_000), Usd(90_000_000));
    }

    #[test]
    fn a_cost_is_the_sum_of_its_parts_and_never_rounded_down() {
        let (price, _) = price_of("claude-haiku-4-5");
        assert_eq!(price.of(1_000, 10_000, 2_000, 100), Usd(1_000 + 1_000 + 2_500 + 500));
        assert_eq!(price.of(0, 1, 0, 0), Usd(1));
        assert_eq!(Price::FREE.of(1 << 40, 1, 1, 1 << 40), Usd(0));
        assert!(price.at_most(1_000, 100) >= price.of(1_000, 0, 0, 100));
        assert!(price.at_most(1_000, 100) >= price.of(0, 0, 1_000, 100));
    }
}
