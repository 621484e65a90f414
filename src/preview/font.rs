//! Digits for frame numbers.

use super::image::Image;

/// Width and height of a glyph, in dots.
const SIZE: [usize; 2] = [5, 7];

/// Digits 0 … 9 and the minus sign: seven rows each, the leftmost dot in bit 4.
const GLYPHS: [[u8; 7]; 11] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
    [0b00000, 0b00000, 0b00000, 0b01110, 0b00000, 0b00000, 0b00000],
];

/// Writes a number with its upper left corner at (x, y), each dot `dot` pixels wide.
pub(super) fn draw_number(image: &mut Image, number: i32, x: usize, y: usize, dot: usize) {
    for (place, character) in number.to_string().bytes().enumerate() {
        let glyph = match character {
            b'-' => &GLYPHS[10],
            digit => &GLYPHS[usize::from(digit.wrapping_sub(b'0')) % 10],
        };
        let left = x + place * (SIZE[0] + 1) * dot;
        for row in 0..SIZE[1] * dot {
            for column in 0..SIZE[0] * dot {
                let set = glyph[row / dot] >> (SIZE[0] - 1 - column / dot) & 1 == 1;
                let (px, py) = (left + column, y + row);
                if set && px < image.width && py < image.height {
                    image.pixels[py * image.width + px] = [24, 34, 46];
                }
            }
        }
    }
}
