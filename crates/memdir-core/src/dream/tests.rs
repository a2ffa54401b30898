//! tmp
use super::*;
use super::subject::Subject;

#[test]
fn tmp_show() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dream/built.txt")).unwrap();
    let mut group: Vec<(String, Source)> = Vec::new();
    let mut kind = "";
    for line in text.lines().chain(["= end"]) {
        if let Some(k) = line.strip_prefix("= ") {
            if ["dup", "advice", "contrary"].contains(&kind) {
                for a in 0..group.len() { for b in a+1..group.len() {
                    let (x, y) = (Subject::of(&group[a].1), Subject::of(&group[b].1));
                    eprintln!("{kind} {} {} => {:?} | {}", group[a].0, group[b].0, compare::relation(&x, &y), compare::debug(&x, &y));
                } }
            }
            group.clear(); kind = k; continue;
        }
        let f: Vec<&str> = line.split(" | ").collect();
        if f.len() < 5 || line.starts_with('~') || line.starts_with('#') { continue; }
        let said: Timestamp = format!("{}T09:00:00Z", f[2]).parse().unwrap();
        let text = format!("---\nname: {}\ndescription: \"{}\"\ntype: {}\nmetadata:\n  created: {said}\n---\n\n{}\n", f[0], f[3], f[1], f[4]);
        group.push((f[0].to_owned(), Source::read(MemoryPath::new(&format!("{}.md", f[0])).unwrap(), text.as_bytes(), said)));
    }
}
