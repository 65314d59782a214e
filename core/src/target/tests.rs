use super::*;

const HEAD: &str =
    "schema: 1, family: A2A3, sources: {\"s\": (note: \"n\", kind: Board, date: \"\")}";

fn load(text: &str) -> Result<Target, Vec<Diagnostic>> {
    let base = |name: &str| (name == "base").then(|| SourceFile::new("base.ron", base_text()));
    Target::load(&SourceFile::new("t.ron", text), &base, Arc::default())
}

/// Every required figure, as 16.
fn base_text() -> String {
    let mut groups: IndexMap<&str, Vec<String>> = IndexMap::new();
    let mut text = format!("({HEAD}, name: \"base\", shared: true,");
    for f in schema::fields(Family::A2A3).filter(|f| f.required) {
        let value = if f.path == "ub.size" { 196608 } else { 16 };
        let figure = format!("({value}, src: \"s\", conf: Measured)");
        match f.path.split_once('.') {
            Some((g, p)) => groups.entry(g).or_default().push(format!("{p}: {figure}")),
            None => text += &format!("{}: {figure},", f.path),
        }
    }
    for (g, parts) in groups {
        text += &format!("{g}: ({}),", parts.join(","));
    }
    text + "costs: {\"v\": (startup: (1, src: \"s\", conf: Derived), \
            f32: (startup: (2, src: \"s\", conf: Derived)), int: (startup: (3, src: \"s\", conf: Derived)))})"
}

fn over(body: &str) -> Result<Target, Vec<Diagnostic>> {
    load(&format!("({HEAD}, name: \"t\", base: \"base\", {body})"))
}

#[test]
fn a_base_is_overridden_figure_by_figure() {
    let t = over("drain: (value: 3, src: \"s\", conf: Assumed), aliases: [\"Tee\"]").unwrap();
    assert_eq!((t.value("drain"), t.value("end")), (Some(3.0), Some(16.0)));
    assert!(t.answers_to("tee") && !t.answers_to("base"));
    let place = t.get("drain").unwrap().place.clone().unwrap();
    assert_eq!((&*place.file.name, &place.file.text[place.span.range()]), ("t.ron", "3"));
    assert_eq!(t.get("end").unwrap().place.as_ref().unwrap().file.name, "base.ron");
    let paths: Vec<_> = over("").unwrap().diff(&t).into_iter().map(|d| d.path).collect();
    assert_eq!(paths, ["drain"]);
}

#[test]
fn bad_files_are_refused_under_the_fault() {
    for (body, under, says) in [
        ("drian: (3, src: \"s\", conf: Assumed)", "drian", "did you mean `drain`"),
        ("mask: (frist: (3, src: \"s\", conf: Assumed))", "frist", "did you mean `mask.first`"),
        ("drain: (3, src: \"q\", conf: Assumed)", "\"q\"", "no source `q`"),
        ("drain: 3", "3", "expected a figure"),
        ("drain: (src: \"s\", conf: Assumed)", "(src: \"s\", conf: Assumed)", "has no value"),
        ("drain: (3, value: 4, src: \"s\", conf: Assumed)", "value", "unknown field `value`"),
        ("drain: (3, src: \"s\")", "(3, src: \"s\")", "needs both `src` and `conf`"),
        ("drain: (3, src: \"s\", conf: Sure)", "Sure", "Measured, Derived"),
        ("drain: (-1, src: \"s\", conf: Assumed)", "-1", "outside 0..=1000000"),
        ("drain: (1e7, src: \"s\", conf: Assumed)", "1e7", "outside"),
        ("drain: (1.5, src: \"s\", conf: Assumed)", "1.5", "whole number"),
        ("drain: (NaN, src: \"s\", conf: Assumed)", "NaN", "finite"),
        ("drain: (\"x\", src: \"s\", conf: Assumed)", "\"x\"", "expected a number"),
        ("ub: (bank_groups: (0, src: \"s\", conf: Assumed))", "0", "outside 1..=64"),
        ("ub: (block: (48, src: \"s\", conf: Assumed))", "48", "not a power of two"),
        ("ub: (block: (0.5, src: \"s\", conf: Assumed))", "0.5", "outside 1..=4096"),
        (
            "costs: {\"v\": (per_repaet: (1, src: \"s\", conf: Assumed))}",
            "per_repaet",
            "per_repeat",
        ),
        ("costs: {\"v\": (per_repeat: (-1, src: \"s\", conf: Assumed))}", "-1", "outside"),
        (
            "drain: (3, src: \"s\", conf: Assumed), drain: (3, src: \"s\", conf: Assumed)",
            "drain",
            "twice",
        ),
        ("base: \"nowhere\"", "base", "twice"),
        ("aliases: 3", "3", "a list of texts"),
    ] {
        let errors = over(body).unwrap_err();
        let hit = errors.iter().any(|d| {
            let label = d.labels.first().unwrap();
            let text = format!("{} {}", d.message, d.help.clone().unwrap_or_default());
            &label.file.text[label.span.range()] == under && text.contains(says)
        });
        assert!(hit, "{body}: {errors:?}");
    }
}

#[test]
fn missing_figures_and_bases_are_errors() {
    let errors = load(&format!("({HEAD}, name: \"t\")")).unwrap_err();
    assert!(errors[0].message.contains("lacks `clock_mhz`, `ub.size`, "), "{errors:?}");
    assert!(errors[0].message.ends_with("more") && errors[0].labels.len() == 1, "{errors:?}");
    assert!(load(&format!("({HEAD}, name: \"t\", base: \"nowhere\")")).is_err());
    let own =
        |_: &str| Some(SourceFile::new("o.ron", format!("({HEAD}, name: \"o\", base: \"o\")")));
    let file = own("o").unwrap();
    let errors = Target::load(&file, &own, Arc::default()).unwrap_err();
    assert!(errors[0].message.contains("more than"), "{errors:?}");
}

#[test]
fn instructions_fall_back_from_type_to_class_to_any_to_cost_class() {
    let t = over("").unwrap();
    let entry = |m| Entry {
        mnemonic: m,
        dtypes: vec![DType::F32],
        pipe: crate::stream::Pipe::V,
        kind: Kind::Vector,
        cost_class: "v",
    };
    let startup = |m, d| t.cost(&entry(m), d, "startup").map(|(p, f)| (p, f.value));
    assert_eq!(startup("v", DType::F32), Some(("v.f32.startup".into(), 2.0)));
    assert_eq!(startup("v", DType::U8), Some(("v.int.startup".into(), 3.0)));
    assert_eq!(startup("v", DType::F16), Some(("v.startup".into(), 1.0)));
    assert_eq!(startup("v_rounded", DType::F32), Some(("v.f32.startup".into(), 2.0)));
    assert_eq!(t.cost(&entry("v"), DType::F32, "per_repeat"), None);
    let unknown = Arc::new(Catalogue(vec![Entry { cost_class: "w", ..entry("w") }]));
    let lacking = t.clone().with_catalogue(unknown.clone()).check();
    assert!(lacking[0].message.contains("`w` has no `startup` for f32"));
    let file = SourceFile::new("base.ron", base_text());
    let errors = Target::load(&file, &|_| None, unknown).unwrap_err();
    assert!(errors[0].message.contains("no instruction or cost class `v`"));
}

#[test]
fn overrides_reach_every_type_or_one() {
    let mut t = over("").unwrap();
    assert_eq!(t.set("v.f32.startup", 9.0).unwrap(), ["v.f32.startup"]);
    assert_eq!(t.get("v.f32.startup").unwrap().src, OVERRIDE);
    assert_eq!(t.set("v.i16.startup", 8.0).unwrap(), ["v.i16.startup"], "its own, from the class");
    assert_eq!((t.value("v.int.startup"), t.value("v.i16.startup")), (Some(3.0), Some(8.0)));
    let help = t.set("v.startpu", 1.0).unwrap_err().help.unwrap();
    assert!(help.contains("`v.startup`"), "{help}");
    assert!(t.set("drain", -1.0).is_err());
    assert_eq!(t.value("drain"), Some(16.0), "a refused override changes nothing");
    assert!(t.set("", 1.0).is_err() && t.set("....", 1.0).is_err());
}
