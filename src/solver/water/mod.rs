//! FLIP water [ZB05 §4].
