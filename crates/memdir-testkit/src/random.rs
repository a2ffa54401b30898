//! A tiny seeded generator, so that a failing run can be repeated from the number it printed.

/// An xorshift generator; equal seeds give equal numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts from a seed; seeds that differ by one give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        // The golden ratio spreads small seeds over all bits; xorshift must not start at 0.
        let state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = Self { state };
        for _ in 0..8 {
            random.next_u64();
        }
        random
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high bits of xorshift are the good ones; the modulo's bias is far below what a test can see.
        ((self.next_u64() >> 16) % bound as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several things.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_repeat_and_neighbours_differ() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [(); 4].map(|()| random.next_u64())
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }

    #[test]
    fn every_number_below_the_bound_comes_up() {
        let mut random = Random::new(1);
        let mut seen = [false; 10];
        (0..200).for_each(|_| seen[random.below(10)] = true);
        assert_eq!(seen, [true; 10]);
    }
}
