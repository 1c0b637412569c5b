//! Numbers as people read them.

use std::time::Duration;

/// A size: `812 B`, `12.4 KB`, `3.0 MB`.
pub(super) fn bytes(count: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let count_in = |unit: usize| count as f64 / unit as f64;
    match count {
        0..1_000 => format!("{count} B"),
        1_000..999_950 => format!("{:.1} KB", count_in(1_000)),
        _ => format!("{:.1} MB", count_in(1_000_000)),
    }
}

/// A time: `0.42 s`, `12.3 s`, `3 min 20 s`.
pub(super) fn seconds(time: Duration) -> String {
    match time.as_millis() {
        0..9_995 => format!("{:.2} s", time.as_secs_f64()),
        9_995..99_950 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
    }
}

/// How many came in a second; nothing if there was hardly any time.
pub(super) fn rate(count: u64, time: Duration) -> Option<u64> {
    const LEAST: Duration = Duration::from_millis(50);
    #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::cast_possible_truncation)]
    let rate = |seconds: f64| (count as f64 / seconds).round() as u64;
    (time >= LEAST).then(|| rate(time.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0, 999, 1_000, 12_449, 999_949, 999_950, 3_000_000].map(bytes).join(" · "),
            "0 B · 999 B · 1.0 KB · 12.4 KB · 999.9 KB · 1.0 MB · 3.0 MB"
        );
        let times = [0, 420, 9_994, 9_995, 99_949, 99_950, 200_900].map(Duration::from_millis);
        assert_eq!(
            times.map(seconds).join(" · "),
            "0.00 s · 0.42 s · 9.99 s · 10.0 s · 99.9 s · 1 min 39 s · 3 min 20 s"
        );
        assert_eq!(rate(10, Duration::from_millis(10)), None);
        assert_eq!(rate(10, Duration::from_millis(300)), Some(33));
    }
}
