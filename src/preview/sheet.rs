//! Many frames on one sheet.

use super::font::draw_number;
use super::image::Image;

/// Space between pictures [pixels].
const GAP: usize = 6;
const PAPER: [u8; 3] = [250, 250, 250];

/// Writes the frame's number into the upper left corner.
pub fn label_frame(image: &mut Image, frame: i32) {
    let dot = (image.height / 200).max(2);
    draw_number(image, frame, 4 * dot, 4 * dot, dot);
}

/// Lays out pictures with their frame numbers, row by row, on a sheet about as wide as it is high.
/// Pictures may differ in size; each gets the space of the largest.
pub fn contact_sheet(frames: &[(i32, Image)]) -> Image {
    let width = frames.iter().map(|(_, i)| i.width).max().unwrap_or(1);
    let height = frames.iter().map(|(_, i)| i.height).max().unwrap_or(1);
    let columns = columns(frames.len(), width, height);
    let rows = frames.len().div_ceil(columns).max(1);
    let span = |count: usize, size: usize| count * (size + GAP) + GAP;
    let mut sheet = Image::filled(span(columns, width), span(rows, height), PAPER);
    for (place, (frame, image)) in frames.iter().enumerate() {
        let mut image = image.clone();
        label_frame(&mut image, *frame);
        let (column, row) = (place % columns, place / columns);
        sheet.paste(&image, GAP + column * (width + GAP), GAP + row * (height + GAP));
    }
    sheet
}

/// The number of columns that makes the sheet squarest.
fn columns(count: usize, width: usize, height: usize) -> usize {
    let squareness = |columns: &usize| {
        let rows = count.div_ceil(*columns);
        (columns * width).abs_diff(rows * height)
    };
    (1..=count.max(1)).min_by_key(squareness).unwrap_or(1)
}
