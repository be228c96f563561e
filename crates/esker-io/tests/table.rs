//! Tables of grains: what is read, what is refused and how, and that export and import are inverses.

use esker_io::table::{Grains, TableError, read, read_bytes};
use proptest::prelude::*;

const KNOWN: &str = "x, y, z, radius (r), diameter (d), vx, vy, vz, wx, wy, wz, material, id";

/// The bytes that an export writes.
fn exported(grains: &Grains) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    grains.write(&path).unwrap();
    std::fs::read(&path).unwrap()
}

fn problem(text: &str) -> String {
    read_bytes(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn units_in_the_header_are_turned_into_si() {
    let commas = "x [mm], Y[cm], z, d [um], vx [km/h], wz [rpm], material\n0.3, 2, 3, 500, 36, 60, \"glass, green\"\n";
    let grains = read_bytes(commas.as_bytes()).unwrap();
    assert_eq!(grains.position, [[0.3e-3, 2e-2, 3.0]]);
    assert_eq!(grains.radius, [250e-6]);
    assert_eq!(grains.velocity.unwrap(), [[10.0, 0.0, 0.0]]);
    assert!((grains.angular_velocity.unwrap()[0][2] / std::f64::consts::TAU - 1.0).abs() < 1e-15);
    assert_eq!((grains.material.unwrap(), grains.id), (vec!["glass, green".to_owned()], None));
}

#[test]
fn a_table_knows_every_unit_a_scene_knows() {
    let text = "x [nm], y [Mm], r [dm], vx [m/min], vy [um s^-1], wx [rev/s], wy [1/s], wz [deg/s]\n3,3,3,3,3,3,3,3\n";
    let grains = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((grains.position[0], grains.radius[0]), ([3e-9, 3e6, 0.0], 0.3));
    assert_eq!(grains.velocity.unwrap(), [[0.05, 3e-6, 0.0]]);
    let tau = std::f64::consts::TAU;
    for (w, expected) in grains.angular_velocity.unwrap()[0].iter().zip([3.0 * tau, 3.0, tau / 120.0]) {
        assert!((w / expected - 1.0).abs() < 1e-15, "{w} for {expected}");
    }
}

#[test]
fn white_space_separates_as_well_and_comments_are_passed_over() {
    let text = "\u{feff}# made by hand\r\n\r\n x [mm] y [ mm ] r\tid\r\n 1e0\t2 0.5 7\r\n# end\r\n 3 4 0.5 8.00e+00";
    let grains = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(grains.position, [[1e-3, 2e-3, 0.0], [3e-3, 4e-3, 0.0]]);
    assert_eq!(grains.id.unwrap(), [7, 8]);
    assert!(grains.velocity.is_none() && grains.material.is_none());
    assert_eq!(read_bytes(b"x,y,r").unwrap(), Grains::default());
}

#[test]
fn faults_are_named_with_line_column_text_and_what_is_known() {
    let unknown = problem("x,y,z,raduis\n");
    assert_eq!(
        unknown,
        format!("line 1, column 4: `raduis` is no known column; known columns: {KNOWN} (did you mean `radius`?)")
    );
    assert!(problem("x,y,foo\n").ends_with("material, id"));
    assert_eq!(problem("x y z r\n1 2 3 0.1\n1 2,5 3 0.1\n"), "line 3, column 2: `2,5` is no finite number for `y`");
    assert_eq!(problem("x,y,r\n1,2,-0.5\n"), "line 2, column 3: `-0.5` is no positive number for `radius`");
    assert_eq!(problem("x,y,r\n1,nan,1\n"), "line 2, column 2: `nan` is no finite number for `y`");
    assert_eq!(problem("x,y,r\n1,2\n"), "line 2: 2 cells, but the first line names 3 columns");
    assert_eq!(problem("x,y,r,id\n1,2,1,5\n\n1,2,1,5\n"), "line 4, column 4: the id 5 stands already in line 2");
    assert_eq!(problem("x,y,r,id\n1,2,1,-1\n"), "line 2, column 4: `-1` is no whole number from 0 on for `id`");
    assert_eq!(problem("x,y,r,d\n"), "line 1, column 4: `d` gives a quantity that an earlier column gives already");
    assert_eq!(problem("x,z,r\n"), "line 1: the column `y` is missing");
    assert_eq!(problem("x,y\n"), "line 1: the column `radius` or `diameter` is missing");
    assert_eq!(problem("x [furlong],y,r\n"), "line 1, column 1: `furlong` is no known unit; `x` is a length");
    assert!(problem("x,y,r [mmm]\n").ends_with("`mmm` is no known unit (did you mean `mm`?); `r` is a length"));
    assert!(problem("x,y,r,vx [m]\n").ends_with("`m` is the unit of a length; `vx` is a velocity"));
    assert!(problem("x,y,r,wz [Hz]\n").ends_with("`Hz` counts cycles; `wz` is an angular velocity (rad/s)"));
    assert!(problem("x [mm + 1 mm],y,r\n").ends_with("`mm + 1 mm` is no unit; `x` is a length"));
    assert!(problem("x [],y,r\n").ends_with("; `x` is a length"));
    assert_eq!(problem("x,y,r,id [m]\n"), "line 1, column 4: `id` has no unit; leave the brackets away");
    assert!(problem("# x y r\n1 2 3\n").contains("has the number `1` (a line that begins with `#` does not count)"));
    assert!(problem("").starts_with("line 1: the first line must name the columns"));
    assert_eq!(
        problem("x,y,r,material\n1,2,1,\"a\n"),
        "line 2: a quotation mark is not closed, or stands inside a cell"
    );
    assert_eq!(read_bytes(b"x,y,r\n1,\xff").unwrap_err().to_string(), "line 2: the file is not UTF-8 text");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bed.csv");
    std::fs::write(&path, "x,y\n").unwrap();
    assert!(
        read(&path)
            .unwrap_err()
            .to_string()
            .ends_with("bed.csv`, line 1: the column `radius` or `diameter` is missing")
    );
}

#[test]
fn columns_of_different_length_and_unfit_names_are_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    let mut grains = Grains { position: vec![[0.0; 3]; 2], radius: vec![1.0], ..Grains::default() };
    assert!(matches!(grains.write(&path), Err(TableError::Length { column: "radius", found: 1, expected: 2 })));
    grains.radius.push(1.0);
    grains.material = Some(vec!["a".into(), "b\nc".into()]);
    assert!(matches!(grains.write(&path), Err(TableError::Material { .. })));
    assert!(!path.exists());
}

fn any_grains() -> impl Strategy<Value = Grains> {
    let finite = || any::<f64>().prop_filter("finite", |x| x.is_finite());
    let vector = move || prop::array::uniform3(finite());
    let name = "[ -~äß]{1,12}".prop_filter("not only space", |s| s.trim() == s && !s.is_empty());
    let grain = (vector(), finite(), vector(), vector(), name);
    (prop::collection::vec(grain, 0..20), any::<[bool; 4]>()).prop_map(|(rows, with)| Grains {
        position: rows.iter().map(|r| r.0).collect(),
        radius: rows.iter().map(|r| r.1.abs().max(1e-300)).collect(),
        velocity: with[0].then(|| rows.iter().map(|r| r.2).collect()),
        angular_velocity: with[1].then(|| rows.iter().map(|r| r.3).collect()),
        material: with[2].then(|| rows.iter().map(|r| r.4.clone()).collect()),
        id: with[3].then(|| (0..rows.len() as u64).map(|i| u64::MAX - i).collect()),
    })
}

proptest! {
    #[test]
    fn exported_grains_come_back_exactly(grains in any_grains()) {
        let bytes = exported(&grains);
        prop_assert_eq!(read_bytes(&bytes).unwrap(), grains);
    }

    #[test]
    fn an_exported_table_is_read_the_same_by_the_csv_crate(grains in any_grains()) {
        let bytes = exported(&grains);
        let mut twin = csv::ReaderBuilder::new().from_reader(&bytes[..]);
        let place = twin.headers().unwrap().iter().position(|h| h == "material");
        for (i, record) in twin.records().enumerate() {
            let record = record.unwrap();
            prop_assert_eq!(record[3].parse::<f64>().unwrap(), grains.radius[i]);
            if let Some(place) = place {
                prop_assert_eq!(&record[place], &grains.material.as_ref().unwrap()[i]);
            }
        }
    }

    #[test]
    fn reading_any_bytes_does_not_panic(bytes: Vec<u8>, text in "(x|y|r|id|material|\\[mm\\]|,|\"|\n|1|2.5| )*") {
        let _ = read_bytes(&bytes);
        let _ = read_bytes(text.as_bytes());
        let _ = read_bytes(format!("x,y,r,material\n{text}").as_bytes());
    }
}
