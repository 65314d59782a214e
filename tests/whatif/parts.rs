//! Shards, and runs that were interrupted.

use super::*;

/// A study of two kernels' worth of rows on both families, in words.
#[test]
fn shards_join_to_the_file_of_one_run() {
    let dir = scratch("shards");
    for ending in ["csv", "jsonl"] {
        words(&dir, &format!("{STUDY} -o all.{ending}"), 0);
        words(&dir, &format!("{STUDY} --shard 0/1 -o same.{ending}"), 0);
        let whole = read(&dir, &format!("all.{ending}"));
        assert_eq!(whole, read(&dir, &format!("same.{ending}")));
        assert_eq!(whole.lines().count(), 2 * 2 * 2 * 3 * 2 + usize::from(ending == "csv"));
        for n in [3, 7] {
            let parts: Vec<String> = (0..n).map(|i| format!("p{i}of{n}.{ending}")).collect();
            for (i, part) in parts.iter().enumerate() {
                words(&dir, &format!("{STUDY} --shard {i}/{n} -o {part}"), 0);
            }
            let mut given = parts.clone();
            given.reverse();
            words(&dir, &format!("whatif merge {} -o joined.{ending}", given.join(" ")), 0);
            assert_eq!(read(&dir, &format!("joined.{ending}")), whole, "{n} shards");
            let out = ptoemu(&dir, &format!("whatif merge {}", parts.join(" ")));
            assert_eq!(String::from_utf8_lossy(&out.stdout), whole);
        }
    }
}

#[test]
fn more_shards_than_points_leave_some_empty() {
    let dir = scratch("empty");
    let study = "whatif op tadd f32 --shape 8x64 --set drain=0,6";
    words(&dir, &format!("{study} -o all.csv"), 0);
    let parts: Vec<String> = (0..5).map(|i| format!("{i}.csv")).collect();
    for (i, part) in parts.iter().enumerate() {
        words(&dir, &format!("{study} --shard {i}/5 -o {part}"), 0);
    }
    words(&dir, &format!("whatif merge {} -o joined.csv", parts.join(" ")), 0);
    assert_eq!(read(&dir, "joined.csv"), read(&dir, "all.csv"));
}

#[test]
fn incomplete_shards_are_not_joined() {
    let dir = scratch("incomplete");
    for i in 0..3 {
        words(&dir, &format!("{STUDY} --shard {i}/3 -o {i}.csv"), 0);
    }
    words(&dir, "whatif op tadd f32 --shape 8x64 --set drain=0..8 --shard 1/3 -o other.csv", 0);
    words(&dir, "whatif op tadd f32 --shape 8x64 --set drain=0..8 -o whole.csv", 0);
    let whole = read(&dir, "2.csv");
    let lines: Vec<&str> = whole.lines().collect();
    let put = |file: &str, text: &str| fs::write(dir.join(file), text).expect("written");
    put("last_row_gone.csv", &(lines[..lines.len() - 1].join("\n") + "\n"));
    put("cut.csv", &whole[..whole.len() - 9]);
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    put("swapped.csv", &(swapped.join("\n") + "\n"));
    put("head.csv", "point,kernel\n");
    for (parts, why) in [
        ("0.csv 2.csv", "shard 1/3 is missing"),
        ("1.csv 2.csv", "shard 0/3 is missing"),
        ("0.csv 1.csv", "shard 2/3 is missing"),
        ("0.csv 1.csv 1.csv 2.csv", "both shard 1/3"),
        ("0.csv other.csv 2.csv", "parts of two studies"),
        ("whole.csv", "no column `shard`"),
        ("0.csv 1.csv last_row_gone.csv", "has 15 of 16 rows"),
        ("0.csv 1.csv cut.csv", "has 15 of 16 rows"),
        ("0.csv 1.csv swapped.csv", "line 4: not point 34"),
        ("head.csv", "no column `shard`"),
        ("0.csv nothing.csv", "cannot read nothing.csv"),
    ] {
        let prose = words(&dir, &format!("whatif merge {parts} -o joined.csv"), 2);
        assert!(prose.contains(why), "{parts}: {prose}");
        assert!(!dir.join("joined.csv").exists() && !dir.join("joined.part").exists());
    }
}

#[test]
fn an_interrupted_run_is_taken_up_where_it_ended() {
    let dir = scratch("resume");
    for (ending, shard) in [("csv", ""), ("jsonl", ""), ("csv", "--shard 1/3")] {
        let study = format!("{STUDY} {shard}");
        words(&dir, &format!("{study} -o all.{ending}"), 0);
        let whole = read(&dir, &format!("all.{ending}"));
        let rows = whole.len();
        for keep in [7, rows / 2 + 1, rows - 1, rows] {
            let part = dir.join(format!("part.{ending}"));
            fs::write(&part, &whole.as_bytes()[..keep]).expect("written");
            words(&dir, &format!("{study} -o part.{ending} --resume --json s.json"), 0);
            assert_eq!(read(&dir, &format!("part.{ending}")), whole, "{ending} cut at {keep}");
            words(&dir, &format!("{study} -o all.{ending} --json t.json"), 0);
            let summary = |f: &str| read(&dir, f).replace("part.", "all.");
            assert_eq!(summary("s.json"), summary("t.json"), "rows read back count");
        }
    }
}

#[test]
fn rows_of_another_study_are_not_gone_on_with() {
    let dir = scratch("other");
    let study = "whatif op tadd f32 --shape 8x64 -o rows.csv --set";
    words(&dir, &format!("{study} drain=0..9"), 0);
    let before = read(&dir, "rows.csv");
    for (sets, why) in [
        (
            "drain=1..10",
            "line 2: not the row this study has there; it begins `0,tadd f32,8x64,a3,1,",
        ),
        ("end=0..9", "columns are those of another study"),
        ("drain=0..8", "line 11: this study ends on the line before"),
    ] {
        let prose = words(&dir, &format!("{study} {sets} --resume"), 2);
        assert!(prose.contains(why), "{sets}: {prose}");
        assert_eq!(read(&dir, "rows.csv"), before, "{sets}");
    }
    words(&dir, &format!("{study} drain=0..10 --resume"), 0);
    assert!(read(&dir, "rows.csv").starts_with(&before));
    words(&dir, &format!("{study} drain=1..10"), 0);
    assert_eq!(read(&dir, "rows.csv").lines().count(), 11, "without --resume it is written anew");
}
