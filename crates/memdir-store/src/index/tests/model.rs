//! Whatever is written in whatever order, the answers are those of an index built anew.

use super::super::{DocId, IndexError};
use super::*;

#[test]
fn every_answer_equals_that_of_the_model_after_every_change() {
    for seed in 0..8 {
        let temp = tempfile::tempdir().unwrap();
        let mut random = Random(seed);
        let mut model = Model::new();
        let mut writer = Writer::open(temp.path(), tiny()).unwrap();
        writer.rebuild([]).unwrap();
        for n in 0..60 {
            if random.below(3) == 0 {
                drop(writer);
                writer = Writer::open(temp.path(), tiny()).unwrap();
            }
            let (upserts, removals) = draw_change(&mut random, &mut model);
            writer.apply(upserts, removals).unwrap();
            assert_answers(temp.path(), &model, &format!("seed {seed}, change {n}"));
            if n % 4 == 0 {
                assert_model(writer.index().unwrap(), &model, "the writer's own view");
            }
        }
        let index = open(temp.path()).unwrap();
        assert!(index.head.segments.len() <= 12, "{} segments", index.head.segments.len());
        let mut entries: Vec<Entry> = model.values().cloned().collect();
        // Out of order, and with old versions that must not win.
        entries.reverse();
        let mut old = entries.clone();
        old.iter_mut().for_each(|entry| entry.length += 1);
        writer.rebuild(old.into_iter().chain(entries)).unwrap();
        assert_answers(temp.path(), &model, &format!("seed {seed}, rebuilt"));
        assert!(writer.index().unwrap().head.segments.len() <= 1);
    }
}

#[test]
fn folding_and_merging_happen_and_leave_few_segments() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(temp.path(), tiny()).unwrap();
    let mut most = 0;
    for n in 0..400 {
        let entry = Entry { key: format!("{n}"), terms: vec![(7, 1)], length: 2, ..Entry::default() };
        writer.apply(vec![entry], vec![]).unwrap();
        most = most.max(writer.index().unwrap().head.segments.len());
    }
    let index = open(temp.path()).unwrap();
    assert_eq!(index.postings(7).unwrap().len(), 400);
    assert_eq!((index.len(), index.total_length()), (400, 800));
    assert!((3..=12).contains(&most), "{most} segments at most");
}

#[test]
fn what_is_removed_leaves_nothing_but_deaths_that_merge_away() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(temp.path(), tiny()).unwrap();
    let entry =
        |n: u64| Entry { key: format!("notes/{n}.md"), terms: vec![(term(3), 1)], ..Entry::default() };
    writer.rebuild((0..20).map(entry)).unwrap();
    for n in 0..20 {
        writer.apply(vec![], vec![format!("notes/{n}.md")]).unwrap();
    }
    assert_answers(temp.path(), &Model::new(), "all removed");
    // One more fold lets go of the last segments.
    writer.apply((0..4).map(entry).collect(), vec![]).unwrap();
    assert_eq!(writer.index().unwrap().head.segments.len(), 1);
}

#[test]
fn a_document_of_an_id_that_is_not_live_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(temp.path(), tiny()).unwrap();
    let entry = Entry { key: "a".to_owned(), ..Entry::default() };
    writer.rebuild([entry.clone()]).unwrap();
    writer.apply(vec![entry], vec![]).unwrap();
    let index = open(temp.path()).unwrap();
    assert_eq!(index.by_key("a").unwrap(), Some(DocId(1)));
    for id in [0, 2, u32::MAX] {
        assert!(matches!(index.doc(DocId(id)), Err(IndexError::NoDocument(_))), "{id}");
    }
}

#[test]
fn other_centroids_are_another_version() {
    let temp = tempfile::tempdir().unwrap();
    Writer::open(temp.path(), tiny()).unwrap().rebuild([]).unwrap();
    assert!(matches!(Index::open(temp.path(), &[]), Err(IndexError::OtherVersion)));
    let missing = temp.path().join("missing");
    assert!(matches!(open(&missing), Err(IndexError::Missing)));
    let mut writer = Writer::open(temp.path(), Options { centroids: &[], ..tiny() }).unwrap();
    let mut random = Random(5);
    let entries: Vec<Entry> = (0..40).map(|_| random.entry()).collect();
    assert!(matches!(writer.apply(entries.clone(), vec![]), Err(IndexError::OtherVersion)));
    writer.rebuild(entries.clone()).unwrap();
    // Without centroids there is one topic.
    let index = Index::open(temp.path(), &[]).unwrap();
    let model: Model = entries.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
    for (query, ..) in &ASKED {
        let found = ask_nearest(&index, query, 100, 40).unwrap();
        assert_eq!(found, expected_nearest(&model, query, 100, usize::MAX));
    }
}

#[test]
fn the_same_documents_make_the_same_segment() {
    let mut random = Random(9);
    let entries: Vec<Entry> = (0..40).map(|_| random.entry()).collect();
    let model: Model = entries.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = Options { run_docs: 1000, run_terms: 1000, ..tiny() };
    let mut direct = Writer::open(one.path(), options).unwrap();
    direct.rebuild(model.values().cloned()).unwrap();
    let mut merged = Writer::open(other.path(), tiny()).unwrap();
    merged.rebuild(model.values().rev().cloned()).unwrap();
    let read = |writer: &mut Writer, path: &Path| {
        let number = writer.index().unwrap().head.segments[0].number;
        std::fs::read(path.join(format!("{number}.segment"))).unwrap()
    };
    assert_ne!(direct.index().unwrap().head, merged.index().unwrap().head);
    // Lists and pages are the same; what stands between them moves with the order of writing only.
    assert_eq!(read(&mut direct, one.path()), read(&mut merged, other.path()));
}

/// More than one page, block and table entry of everything.
#[test]
fn a_larger_index_answers_from_many_pages_and_blocks() {
    let temp = tempfile::tempdir().unwrap();
    let options = Options { centroids: &[], log_docs: 60, run_docs: 400, run_terms: 9000, ..tiny() };
    let mut writer = Writer::open(temp.path(), options).unwrap();
    let mut random = Random(31);
    let mut model = Model::new();
    let large = |random: &mut Random, n: u64| Entry {
        key: format!("turn {n}"),
        terms: (0..20)
            .map(|_| (term(random.below(random.0 % 3000 + 1)), 1 + random.below(9) as u16))
            .collect(),
        facets: vec![n % 3],
        length: n as u32,
        vector: Some(std::array::from_fn(|_| random.next() as i8)),
        payload: n.to_le_bytes().to_vec(),
        ..Entry::default()
    };
    let first: Vec<Entry> = (0..900).map(|n| large(&mut random, n)).collect();
    model.extend(first.iter().map(|entry| (entry.key.clone(), entry.clone())));
    writer.rebuild(first).unwrap();
    for _ in 0..12 {
        let numbers: Vec<u64> = (0..45).map(|_| random.below(1200)).collect();
        let upserts: Vec<Entry> = numbers.into_iter().map(|n| large(&mut random, n)).collect();
        let removals: Vec<String> = (0..5).map(|_| format!("turn {}", random.below(1200))).collect();
        removals.iter().for_each(|key| drop(model.remove(key)));
        model.extend(upserts.iter().map(|entry| (entry.key.clone(), entry.clone())));
        writer.apply(upserts, removals).unwrap();
    }
    let index = Index::open(temp.path(), &[]).unwrap();
    assert!(
        index.head.segments.len() > 1 && !index.head.segments.iter().all(|meta| meta.n_live == meta.n_docs)
    );
    assert_larger(&index, &model, &mut random);
    writer.rebuild(model.values().cloned()).unwrap();
    assert_larger(&Index::open(temp.path(), &[]).unwrap(), &model, &mut random);
}

fn assert_larger(index: &Index, model: &Model, random: &mut Random) {
    assert_eq!(index.len(), model.len());
    let mut lists: BTreeMap<u64, BTreeMap<&str, (u16, u32)>> = BTreeMap::new();
    for (key, entry) in model {
        let id = index.by_key(key).unwrap().unwrap();
        assert_eq!(index.doc(id).unwrap().payload, entry.payload);
        assert_eq!(index.vector(id).unwrap(), entry.vector);
        for &(term, weight) in &entry.terms {
            lists.entry(term).or_default().entry(key).or_insert((0, entry.length)).0 += weight;
        }
    }
    for (&term, list) in &lists {
        let postings = index.postings(term).unwrap();
        let found: Vec<_> = postings
            .iter()
            .map(|posting| (index.key(posting.doc).unwrap(), (posting.weight, posting.length)))
            .collect();
        let found: BTreeMap<&str, _> = found.iter().map(|(key, found)| (key.as_str(), *found)).collect();
        assert_eq!((postings.len(), &found), (list.len(), list));
    }
    for facet in 0..3 {
        let n_there = model.values().filter(|entry| entry.facets == [facet]).count();
        assert_eq!(index.facet(facet).unwrap().len(), n_there);
    }
    let query: Row = std::array::from_fn(|_| random.next() as i8);
    let dot = |row: &Row| row.iter().zip(&query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>();
    let mut dots: Vec<_> =
        model.iter().map(|(key, entry)| (-dot(entry.vector.as_ref().unwrap()), key.clone())).collect();
    dots.sort_unstable();
    let nearest = index.nearest(&query, 25, usize::MAX).unwrap();
    let nearest: Vec<_> = nearest.iter().map(|&(id, dot)| (-dot, index.key(id).unwrap())).collect();
    assert_eq!(nearest, dots[..25]);
}

/// Where nearly all memories are about one thing, a query reads the cells nearest to it, in every segment and in the
/// log, and no more.
#[test]
fn a_crowded_topic_is_read_by_its_cells() {
    let temp = tempfile::tempdir().unwrap();
    let mut random = Random(11);
    let mut model = Model::new();
    let mut crowd = |range: std::ops::Range<u32>| {
        let mut entry = |n: u32| {
            let vector = Some(row(100, random.below(21) as i8 - 10, random.below(9) as i8));
            Entry { key: format!("{n:05}"), vector, ..random.entry() }
        };
        let entries: Vec<Entry> = range.map(&mut entry).collect();
        model.extend(entries.iter().map(|entry| (entry.key.clone(), entry.clone())));
        entries
    };
    let mut writer = Writer::open(temp.path(), Options::new(centroids())).unwrap();
    writer.rebuild(crowd(0..6_000)).unwrap();
    writer.apply(crowd(5_900..6_100), Vec::new()).unwrap();
    let index = open(temp.path()).unwrap();
    for (query, min_rows) in [
        (row(100, 5, 1), 1),
        (row(100, -5, 1), 1),
        (row(100, 1, 3), 3_000),
        (row(-100, 0, 1), 1),
        (row(100, 5, 1), usize::MAX),
    ] {
        let found = ask_nearest(&index, &query, 40, min_rows).unwrap();
        assert_eq!(found, expected_nearest(&model, &query, 40, min_rows), "{min_rows}");
    }
    let of_one_cell = index.nearest(&row(100, 5, 1), usize::MAX, 1).unwrap().len();
    assert!((1..4_000).contains(&of_one_cell), "{of_one_cell}");
}
