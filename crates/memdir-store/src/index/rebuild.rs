//! The index built anew from everything there is.
//!
//! Entries are taken in runs that fit into memory, each run becomes a segment, and the runs are merged into one. Readers
//! go on with the generation before until the new one is complete. Several processes that all find the index damaged
//! should each open a [`Writer`] and ask [`Writer::index`] again before they start: the first has done it for all.

use super::head::{Head, number_of, segment_name};
use super::merge::{Part, merge};
use super::read::fingerprint;
use super::segment::{Dead, Meta, Segment, write_entries};
use super::writer::with_group;
use super::{Entry, IndexError, Writer};

impl Writer {
    /// Builds the index anew from `entries`. Of two with one key the later stays.
    pub fn rebuild(&mut self, entries: impl IntoIterator<Item = Entry>) -> Result<(), IndexError> {
        let first = self.free_number()?;
        let mut next = first;
        let mut runs: Vec<Meta> = Vec::new();
        let mut run = Vec::new();
        let mut n_terms = 0;
        for mut entry in entries {
            entry.normalise();
            n_terms += entry.terms.len();
            run.push(with_group(entry, self.options.centroids));
            if run.len() >= self.options.run_docs || n_terms >= self.options.run_terms {
                runs.push(self.write_run(std::mem::take(&mut run), next)?);
                (next, n_terms) = (next + 1, 0);
            }
        }
        if !run.is_empty() {
            runs.push(self.write_run(run, next)?);
            next += 1;
        }
        if runs.len() > 1 {
            let merged = self.merge_runs(&runs, next)?;
            next += 1;
            for run in std::mem::replace(&mut runs, vec![merged]) {
                self.dir.remove(&segment_name(run.number))?;
            }
        }
        let centroids = fingerprint(self.options.centroids);
        self.publish(Head { generation: 0, centroids, next, segments: runs })
    }

    fn write_run(&mut self, mut run: Vec<(Entry, Option<u16>)>, number: u64) -> Result<Meta, IndexError> {
        run.sort_by(|a, b| a.0.key.cmp(&b.0.key));
        run.dedup_by(|later, kept| {
            let same = later.0.key == kept.0.key;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        let entries: Vec<_> = run.iter().map(|(entry, group)| (entry, *group)).collect();
        let meta = write_entries(&self.dir, number, &entries, &[])?;
        self.step();
        Ok(meta)
    }

    fn merge_runs(&mut self, runs: &[Meta], number: u64) -> Result<Meta, IndexError> {
        let dead = Dead::default();
        let mut segments = Vec::with_capacity(runs.len());
        for run in runs {
            segments.extend(Segment::open(&self.dir, run)?);
        }
        let parts: Vec<_> = segments.iter().map(|segment| Part { segment, dead: &dead }).collect();
        let meta = merge(&self.dir, number, &parts, &[])?;
        self.step();
        Ok(meta)
    }

    /// Returns a number above that of every file there is and of every file `head` knows of.
    fn free_number(&self) -> Result<u64, IndexError> {
        let mut next = Head::load(&self.dir).map_or(1, |head| head.next);
        self.dir.for_each(|name, _| next = number_of(name).map_or(next, |number| next.max(number + 1)))?;
        Ok(next)
    }
}
