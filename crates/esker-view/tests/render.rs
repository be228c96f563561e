//! Pictures of scenes so small that every pixel is known.

use esker_io::store::column::Column;
use esker_io::store::{FrameData, Part, RunHead, Table, WallMesh};
use esker_view::colour::{Map, Rgb};
use esker_view::render::output::{self, Film, Kind};
use esker_view::render::{
    Background, Camera, Image, Lens, Projection, Range, RenderError, Run, Settings, Shot, Side, Size, Which,
};
use std::f64::consts::PI;

fn column(name: &str, components: &[&str], values: Vec<f64>) -> Column {
    let components = components.iter().map(|c| c.to_string()).collect();
    Column { name: name.to_owned(), unit: "u".to_owned(), components, values }
}

const XYZ: &[&str] = &["X", "Y", "Z"];

/// Grains by place, radius and a number called `heat`.
fn frame(grains: &[([f64; 3], f64, f64)]) -> FrameData {
    let of = |value: fn(&([f64; 3], f64, f64)) -> f64| grains.iter().map(value).collect::<Vec<f64>>();
    let columns = vec![
        column("id", &[], (0..grains.len()).map(|k| k as f64).collect()),
        column("radius", &[], of(|g| g.1)),
        column("position", XYZ, grains.iter().flat_map(|g| g.0).collect()),
        column("heat", &[], of(|g| g.2)),
    ];
    let grains = Table { rows: grains.len(), columns };
    FrameData { time: 0.0, step: 0, grains, pairs: Table::default(), ends: Table::default(), walls: Vec::new() }
}

fn head() -> RunHead {
    RunHead { gravity: [0.0, 0.0, -9.81], materials: vec!["glass".into(), "steel".into()], ..RunHead::default() }
}

/// From the front, 400 × 300 pixels, nothing but grains and walls, `heat` from 0 to 1.
fn plain() -> Settings {
    Settings {
        size: Size { width: 400, height: 300 },
        side: Some(Side::Front),
        projection: Some(Projection::Orthographic),
        colour: Some("heat".to_owned()),
        range: Some(Range { min: 0.0, max: 1.0 }),
        bar: false,
        time: false,
        ..Settings::default()
    }
}

fn shoot(head: RunHead, frame: &FrameData, settings: &Settings) -> (Image, Camera) {
    let run = Run::in_memory(head, vec![frame.clone()]).unwrap();
    let shot = Shot::new(&run, &[0], settings, || {}).unwrap();
    (shot.draw(frame), *shot.camera())
}

/// Pixels that are not the background, by how much of them is covered.
fn covered(image: &Image) -> f64 {
    image.pixels.iter().map(|p| f64::from(p[3]) / 255.0).sum()
}

fn at(image: &Image, camera: &Camera, place: [f64; 3]) -> [u8; 4] {
    let [x, y] = camera.pixel(camera.view(place.into()));
    image.at(x as usize, y as usize)
}

fn is_close(pixel: [u8; 4], colour: Rgb, by: i32) -> bool {
    pixel.iter().zip(colour.bytes()).all(|(a, b)| (i32::from(*a) - i32::from(b)).abs() <= by)
}

/// A square across y, from -1 to 1 in x and z.
fn square(y: f64) -> (Part, WallMesh) {
    let vertices = vec![[-1.0, y, -1.0], [1.0, y, -1.0], [1.0, y, 1.0], [-1.0, y, 1.0]];
    let part = Part { wall: 0, position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0], force: [0.0; 3] };
    (part, WallMesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] })
}

#[test]
fn a_sphere_seen_orthographically_covers_pi_r_squared_and_has_the_colour_of_its_field() {
    let scene = frame(&[([0.3, 0.2, -0.1], 0.05, 0.25)]);
    let settings = Settings { background: Background::Transparent, zoom: 0.8, ..plain() };
    let (image, camera) = shoot(head(), &scene, &settings);
    let Lens::Orthographic { scale } = camera.lens else { panic!("{:?}", camera.lens) };
    let area = PI * (scale * 0.05f64).powi(2);
    assert!((covered(&image) / area - 1.0).abs() < 0.01, "{} instead of {area}", covered(&image));
    assert!(is_close(at(&image, &camera, [0.3, 0.2, -0.1]), Map::Viridis.at(0.25), 1));
}

#[test]
fn of_two_spheres_the_nearer_one_is_seen() {
    for (near, far) in [(0, 1), (1, 0)] {
        // The eye is at negative y.
        let mut grains = [([0.0, -1.0, 0.0], 0.1, 0.0), ([0.05, 1.0, 0.0], 0.2, 1.0)];
        grains.swap(0, near);
        let (image, camera) = shoot(head(), &frame(&grains), &plain());
        assert!(is_close(at(&image, &camera, [0.0; 3]), Map::Viridis.at(0.0), 1), "{near} before {far}");
        assert!(!is_close(at(&image, &camera, [0.2, 0.0, 0.0]), Map::Viridis.at(0.0), 60));
    }
}

#[test]
fn the_size_of_a_sphere_in_perspective_is_that_of_its_tangent_cone() {
    let (r, distance) = (0.2, 1.5);
    let settings = Settings {
        side: None,
        eye: Some([0.0, -distance, 0.0].into()),
        target: Some([0.0; 3].into()),
        projection: Some(Projection::Perspective),
        background: Background::Transparent,
        ..plain()
    };
    let (image, camera) = shoot(head(), &frame(&[([0.0; 3], r, 0.5)]), &settings);
    let Lens::Perspective { focal } = camera.lens else { panic!("{:?}", camera.lens) };
    // Tangents have the slope r/√(d² − r²).
    let area = PI * (focal * r).powi(2) / (distance * distance - r * r);
    assert!((covered(&image) / area - 1.0).abs() < 0.01, "{} instead of {area}", covered(&image));
    // The closed form is not that of a flat disc.
    assert!((covered(&image) / (PI * (focal * r / distance).powi(2)) - 1.0).abs() > 0.015);
}

#[test]
fn a_wall_before_a_grain_tints_but_does_not_hide_it() {
    let mut scene = frame(&[([0.0; 3], 0.3, 0.0)]);
    let (bare, camera) = shoot(head(), &scene, &plain());
    let bare = at(&bare, &camera, [0.0; 3]);
    scene.walls = vec![square(-0.5)];
    let (image, camera) = shoot(head(), &scene, &plain());
    let seen = at(&image, &camera, [0.0; 3]);
    assert!(seen != bare && (0..3).all(|k| seen[k].abs_diff(bare[k]) < 60), "{seen:?} {bare:?}");
    // Between grain and border: the wall alone, one layer of it wherever its two triangles meet.
    let beside = at(&image, &camera, [0.8, 0.0, 0.1]);
    assert!(beside[0] < 255 && beside[0] > 200, "{beside:?}");
    assert_eq!(at(&image, &camera, [0.7, 0.0, 0.7]), beside, "on the diagonal");
    // Behind the grain it is not seen there.
    scene.walls = vec![square(0.5)];
    let (image, camera) = shoot(head(), &scene, &plain());
    assert_eq!(at(&image, &camera, [0.0; 3]), bare);
    assert_eq!(at(&image, &camera, [0.8, 0.0, 0.1]), beside);
}

#[test]
fn walls_of_a_planar_scene_are_lines_from_the_front() {
    let mut scene = frame(&[([0.0, 0.5, 0.0], 0.3, 0.0)]);
    let vertices = vec![[-1.0, 0.0, -0.2], [-1.0, 0.0, 0.2], [1.0, 0.0, -0.2], [1.0, 0.0, 0.2]];
    let part = square(0.0).0;
    scene.walls = vec![(part, WallMesh { vertices, triangles: vec![[0, 1, 2], [1, 3, 2]] })];
    let planar = RunHead { planar: true, gravity: [0.0, -9.81, 0.0], ..head() };
    let (image, camera) = shoot(planar, &scene, &Settings { side: None, projection: None, ..plain() });
    for x in [-0.9, -0.33, 0.0, 0.71] {
        assert!(at(&image, &camera, [x, 0.0, 0.0])[0] < 80, "{x}");
        assert_eq!(at(&image, &camera, [x, 0.1, 0.0]), [255; 4], "{x}");
    }
}

#[test]
fn a_clip_plane_cuts_grains_where_it_says() {
    let scene = frame(&[([-1.0, 0.0, 0.0], 0.5, 0.0), ([1.0, 0.0, 0.0], 0.5, 1.0)]);
    let shown = |clip: &str| {
        let settings = Settings { clip: Some(clip.parse().unwrap()), ..plain() };
        let settings = Settings { background: Background::Transparent, target: Some([0.0; 3].into()), ..settings };
        let (image, camera) = shoot(head(), &scene, &settings);
        [-1.2, -0.8, 0.8, 1.2].map(|x| at(&image, &camera, [x, 0.0, 0.0])[3] == 255)
    };
    assert_eq!(shown("x:0"), [true, true, false, false]);
    assert_eq!(shown("x:0:flip"), [false, false, true, true]);
    assert_eq!(shown("x:1"), [true, true, true, false]);
    // Across the line of sight: a cut shows the inside, which has the colour of the grain.
    assert_eq!(shown("y:0"), [true; 4]);
    assert_eq!(shown("y:0.6"), [false; 4]);
    assert_eq!(shown("y:-0.6"), [true; 4]);
}

#[test]
fn the_mark_of_a_disc_turns_with_its_orientation() {
    let planar = RunHead { planar: true, gravity: [0.0, -9.81, 0.0], ..head() };
    for angle in [0.0, 0.7, 2.0, -2.5f64] {
        let mut scene = frame(&[([0.0; 3], 0.5, 1.0)]);
        let turn = vec![0.0, 0.0, (0.5 * angle).sin(), (0.5 * angle).cos()];
        scene.grains.columns.push(column("orientation", &["x", "y", "z", "w"], turn));
        let (image, camera) = shoot(planar.clone(), &scene, &Settings { side: None, ..plain() });
        let dark = |direction: f64| {
            let place = [0.25 * direction.cos(), 0.25 * direction.sin(), 0.0];
            !is_close(at(&image, &camera, place), Map::Viridis.at(1.0), 20)
        };
        assert!(dark(angle), "{angle}");
        assert!([0.5, 1.6, 3.1, -1.0].iter().all(|by| !dark(angle + by)), "{angle}");
    }
}

#[test]
fn contacts_are_drawn_over_pale_grains_the_stronger_the_wider() {
    let mut scene = frame(&[([-1.0, 0.0, 0.0], 0.5, 0.0), ([0.0; 3], 0.5, 0.5), ([0.0, 0.0, 1.0], 0.5, 1.0)]);
    let columns = vec![
        column("first", &[], vec![0.0, 1.0]),
        column("second", &[], vec![1.0, 2.0]),
        column("normal force", &[], vec![10.0, 4.0]),
    ];
    scene.pairs = Table { rows: 2, columns };
    let settings = Settings { colour: None, range: None, contacts: Some(String::new()), ..plain() };
    let (image, camera) = shoot(head(), &scene, &settings);
    // Half widths are 0.4 mean radii times the share of the largest force.
    let is_line = |place: [f64; 3]| at(&image, &camera, place)[2] < 190;
    assert!(is_line([-0.5, 0.0, 0.15]) && !is_line([-0.5, 0.0, 0.25]));
    assert!(is_line([0.05, 0.0, 0.5]) && !is_line([0.15, 0.0, 0.5]));
    let pale = at(&image, &camera, [-1.3, 0.0, 0.0]);
    assert!(pale[0] > 190 && pale[0] < 250, "{pale:?}");
    // And where there are none stored, that is said.
    let run = Run::in_memory(head(), vec![frame(&[([0.0; 3], 1.0, 0.0)])]).unwrap();
    let error = Shot::new(&run, &[0], &settings, || {}).unwrap_err();
    assert!(matches!(error, RenderError::NoContacts { .. }), "{error}");
}

#[test]
fn all_text_is_inside_the_picture_whatever_its_size() {
    use esker_view::render::{Colouring, Field, Layout, Room, Scale, Way};
    let columns = [column("a quantity of unusually-long-and-undividable-name", &[], vec![])];
    let field = Field::find(&columns[0].name, "--colour", &[&columns[0]]).unwrap();
    let names = (0..30).map(|k| (format!("material with a long name {k}"), Rgb::WHITE)).collect();
    let named = Colouring::Names { field: field.clone(), names, seen: vec![true; 30] };
    for [width, height] in [[1280, 720], [64, 64], [100, 900], [1600, 120]] {
        for range in [Range { min: 0.0, max: 1.0 }, Range { min: -1.234567e-7, max: 9.87e-6 }] {
            let scale = Scale { map: Map::Magma, way: Way::Forward, range };
            let size = Size { width, height };
            let layout = Layout::new(size, Room { bars: 2, time: true, title: true });
            assert!(layout.frame.is_within(size), "{:?} in {size:?}", layout.frame);
            let mut image = Image::filled(size, [255; 4]);
            let bars = [&Colouring::Scale { field: field.clone(), scale }, &named];
            let title = Some("A heading that is longer than any picture should have to bear in its first line");
            let texts = layout.draw(&mut image, &bars, Some("t = 123.456789 s"), title, Background::White);
            assert!(texts.len() > 3, "{size:?}");
            for text in texts {
                assert!(text.is_within(size), "{text:?} in {size:?}");
            }
        }
    }
}

/// Many grains and a wall.
fn heap() -> FrameData {
    let grain = |k: usize| {
        let share = |by: f64| (k as f64 * by).fract();
        ([share(0.618_034), share(0.754_878), share(0.569_84)], 0.01 + 0.03 * share(0.324_717), share(0.1234))
    };
    let mut scene = frame(&(0..500).map(grain).collect::<Vec<_>>());
    scene.walls = vec![square(0.5), square(-0.5)];
    scene
}

#[test]
fn pictures_have_the_same_bytes_for_1_2_and_5_threads() {
    let settings = Settings { side: Some(Side::Iso), projection: None, bar: true, time: true, ..plain() };
    let scene = heap();
    let bytes = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| output::png_bytes(&shoot(head(), &scene, &settings).0).unwrap())
    });
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
}

#[test]
fn a_png_decodes_to_the_pixels_that_were_drawn() {
    for background in [Background::White, Background::Transparent] {
        let (image, _) = shoot(head(), &heap(), &Settings { background, ..plain() });
        let bytes = output::png_bytes(&image).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!([info.width as usize, info.height as usize], [400, 300]);
        let opaque = background == Background::White;
        let expected = if opaque { image.opaque_bytes() } else { image.pixels.as_flattened().to_vec() };
        assert!(decoded[..info.buffer_size()] == expected);
    }
}

#[test]
fn a_gif_has_all_frames_one_palette_and_colours_close_to_the_true_ones() {
    let frames: Vec<FrameData> = (0..12)
        .map(|k| FrameData {
            time: 0.1 * f64::from(k),
            ..frame(&[([0.1 * f64::from(k), 0.0, 0.0], 0.4, f64::from(k) / 11.0)])
        })
        .collect();
    let run = Run::in_memory(head(), frames).unwrap();
    let numbers = run.numbers(Which::Every(1)).unwrap();
    let shot = Shot::new(&run, &numbers, &plain(), || {}).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.gif");
    let film = Film { run: &run, shot: &shot, frames: &numbers, fps: 30.0, background: Background::White };
    film.write_gif(&path, || {}).unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(std::fs::File::open(&path).unwrap()).unwrap();
    let palette: Vec<u8> = decoder.global_palette().expect("one palette for all").to_vec();
    let (mut count, mut hundredths) = (0, 0);
    while let Some(decoded) = decoder.read_next_frame().unwrap() {
        assert!(decoded.palette.is_none());
        let image = shot.draw(&run.frame(count).unwrap());
        let off = |(index, pixel): (&u8, &[u8; 4])| {
            (0..3).map(|k| u32::from(palette[3 * usize::from(*index) + k].abs_diff(pixel[k]))).max().unwrap()
        };
        let worst: Vec<u32> = decoded.buffer.iter().zip(&image.pixels).map(off).collect();
        let mean = f64::from(worst.iter().sum::<u32>()) / worst.len() as f64;
        assert_eq!(worst[0], 0, "the background is kept");
        assert!(mean < 5.0 && *worst.iter().max().unwrap() < 40, "{mean}, {:?}", worst.iter().max());
        hundredths += u32::from(decoded.delay);
        count += 1;
    }
    assert_eq!((count, hundredths), (12, 40), "12 frames at 30 a second");
}

#[test]
fn frames_are_found_by_number_and_time_and_refused_beyond() {
    let frames = (0..5).map(|k| FrameData { time: 0.1 * f64::from(k), ..frame(&[([0.0; 3], 1.0, 0.0)]) }).collect();
    let run = Run::in_memory(head(), frames).unwrap();
    let numbers = |which| run.numbers(which).unwrap();
    assert_eq!(numbers(Which::Number(-1)), [4]);
    assert_eq!(numbers(Which::Time(0.22)), [2]);
    assert_eq!(numbers(Which::Every(2)), [0, 2, 4]);
    let told = run.numbers(Which::Number(5)).unwrap_err().to_string();
    assert!(told.contains("`--frame 5`") && told.contains("there are 5 frames"), "{told}");
    assert!(run.numbers(Which::Time(0.9)).unwrap_err().to_string().contains("from 0 s to 0.4 s"));
    assert_eq!([Kind::of("a.PNG".as_ref()), Kind::of("b/".as_ref())], [Some(Kind::Png), Some(Kind::Folder)]);
    assert_eq!(Kind::of("a.jpg".as_ref()), None);
}

#[test]
fn layers_of_origin_stay_with_the_grains() {
    let heights = |z: [f64; 2]| frame(&[([0.0, 0.0, z[0]], 0.4, 0.0), ([0.0, 0.0, z[1]], 0.4, 0.0)]);
    let run = Run::in_memory(head(), vec![heights([0.0, 1.0]), heights([1.0, 0.0])]).unwrap();
    let settings = Settings { colour: Some("layer of origin".to_owned()), ..plain() };
    let shot = Shot::new(&run, &[1], &settings, || {}).unwrap();
    let image = shot.draw(&run.frame(1).unwrap());
    let seen = |z: f64| at(&image, shot.camera(), [0.0, 0.0, z]);
    assert!(is_close(seen(1.0), Map::Viridis.at(0.05), 1), "{:?}", seen(1.0));
    assert!(is_close(seen(0.0), Map::Viridis.at(0.95), 1));
}

#[test]
fn a_frame_without_grains_and_walls_is_an_empty_picture() {
    let (image, _) = shoot(head(), &frame(&[]), &Settings { background: Background::Black, ..plain() });
    assert!(image.pixels.iter().all(|p| *p == [0, 0, 0, 255]));
}
