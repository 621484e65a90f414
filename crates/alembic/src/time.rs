//! Time sampling: which sample belongs to which time.

use crate::error::{Error, Result};

/// Marks acyclic sampling in the file: the period no cycle can have.
pub(crate) const ACYCLIC_PERIOD: f64 = f64::MAX / 32.0;

/// Times closer than this count as equal (s); the same tolerance as the C++ library's, so both
/// choose the same sample.
const TOLERANCE: f64 = 1e-5;

/// How the samples of a property lie in time. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeSampling {
    /// Sample `i` lies at `start + i · step`.
    Uniform {
        /// Time of sample 0 (s).
        start: f64,
        /// Time between samples (s), > 0.
        step: f64,
    },
    /// A pattern of times that repeats, as cameras with several shutter samples write.
    Cyclic {
        /// Times of the first cycle, increasing (s).
        times: Vec<f64>,
        /// Length of a cycle (s).
        period: f64,
    },
    /// One time per sample, increasing (s).
    Acyclic(Vec<f64>),
}

/// The two samples around a time and where between them it falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Sample at or before the time (the first one, before the start).
    pub floor: u32,
    /// Sample at or after the time (the last one, after the end).
    pub ceil: u32,
    /// Weight of `ceil`, in 0..1; 0 where both are the same sample.
    pub weight: f64,
    /// Time of the floor sample (s).
    pub floor_time: f64,
    /// Time of the ceil sample (s).
    pub ceil_time: f64,
}

impl Default for TimeSampling {
    /// What constant properties use: one sample a second from 0.
    fn default() -> Self {
        Self::Uniform { start: 0.0, step: 1.0 }
    }
}

impl TimeSampling {
    /// One sample per frame: frame `first` is sample 0, at `first / fps` seconds.
    pub fn frames(first: i32, fps: f64) -> Self {
        Self::Uniform { start: f64::from(first) / fps, step: 1.0 / fps }
    }

    /// Checks that times are finite and increase.
    ///
    /// # Errors
    /// [`Error::TimeSampling`] says which time is wrong.
    pub fn validate(&self) -> Result<()> {
        let fail = |reason: String| Err(Error::TimeSampling { reason });
        let (times, period): (&[f64], f64) = match self {
            Self::Uniform { start, step } => (std::slice::from_ref(start), *step),
            Self::Cyclic { times, period } => (times, *period),
            Self::Acyclic(times) => (times, ACYCLIC_PERIOD),
        };
        if times.is_empty() {
            return fail("there are no times".into());
        }
        if !(period.is_finite() && period > 0.0) {
            return fail(format!("the step or period is {period} s; it must be > 0"));
        }
        if let Some(bad) = times.iter().position(|t| !t.is_finite()) {
            return fail(format!("time {bad} is {}", times[bad]));
        }
        if let Some(i) = (1..times.len()).find(|&i| times[i] <= times[i - 1]) {
            return fail(format!(
                "time {i} ({} s) does not come after time {} ({} s)",
                times[i],
                i - 1,
                times[i - 1]
            ));
        }
        if times[times.len() - 1] - times[0] > period {
            return fail(format!("a cycle's times span more than its period of {period} s"));
        }
        Ok(())
    }

    /// Time of sample `index` (s); `None` beyond the last time of an acyclic sampling.
    pub fn time(&self, index: u32) -> Option<f64> {
        match self {
            Self::Uniform { start, step } => Some(start + step * f64::from(index)),
            Self::Cyclic { times, period } => {
                let (cycle, phase) = (index as usize / times.len(), index as usize % times.len());
                Some(times[phase] + period * cycle as f64)
            }
            Self::Acyclic(times) => times.get(index as usize).copied(),
        }
    }

    /// The samples around `time` (s) among the first `samples` samples. Times before the first
    /// or after the last sample get that sample. `None` if `samples` is 0.
    pub fn bracket(&self, time: f64, samples: u32) -> Option<Bracket> {
        let last = self.usable(samples)?.checked_sub(1)?;
        let at = |index: u32| self.time(index).unwrap_or(0.0);
        let single = |index: u32| {
            let t = at(index);
            Some(Bracket { floor: index, ceil: index, weight: 0.0, floor_time: t, ceil_time: t })
        };
        if time.is_nan() || time <= at(0) {
            return single(0);
        }
        if time >= at(last) {
            return single(last);
        }
        // Invariant: at(low) <= time < at(high).
        let (mut low, mut high) = self.guess(time, last, &at);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at(middle) <= time { low = middle } else { high = middle }
        }
        let (t0, t1) = (at(low), at(high));
        if time - t0 <= TOLERANCE {
            return single(low);
        }
        if t1 - time <= TOLERANCE {
            return single(high);
        }
        let weight = (time - t0) / (t1 - t0);
        Some(Bracket { floor: low, ceil: high, weight, floor_time: t0, ceil_time: t1 })
    }

    /// The last sample at or before `time` (s) among the first `samples`.
    pub fn floor(&self, time: f64, samples: u32) -> Option<u32> {
        self.bracket(time, samples).map(|bracket| bracket.floor)
    }

    /// The first sample at or after `time` (s) among the first `samples`.
    pub fn ceil(&self, time: f64, samples: u32) -> Option<u32> {
        self.bracket(time, samples).map(|bracket| bracket.ceil)
    }

    /// Samples that have a time.
    fn usable(&self, samples: u32) -> Option<u32> {
        match self {
            Self::Acyclic(times) => Some(samples.min(u32::try_from(times.len()).ok()?)),
            Self::Cyclic { times, .. } if times.is_empty() => None,
            _ => Some(samples),
        }
    }

    /// A tight interval around `time` where it can be computed, else the whole range.
    fn guess(&self, time: f64, last: u32, at: &dyn Fn(u32) -> f64) -> (u32, u32) {
        if let Self::Uniform { start, step } = self {
            let near = ((time - start) / step).floor();
            let low = (near.max(1.0) as u32 - 1).min(last);
            let high = low.saturating_add(3).min(last);
            if at(low) <= time && time < at(high) {
                return (low, high);
            }
        }
        (0, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_brackets_give_weight_and_clamp_outside() {
        let t = TimeSampling::frames(1, 24.0);
        let b = t.bracket(2.25 / 24.0, 10).unwrap();
        assert_eq!((b.floor, b.ceil), (1, 2));
        assert!((b.weight - 0.25).abs() < 1e-12);
        assert_eq!(t.bracket(-5.0, 10).unwrap().floor, 0);
        assert_eq!(t.bracket(99.0, 10).unwrap().floor, 9);
        assert_eq!(t.bracket(f64::NAN, 10).unwrap().floor, 0);
        assert_eq!(t.bracket(0.0, 0), None);
    }

    #[test]
    fn every_frame_time_hits_its_own_sample_exactly() {
        for fps in [23.976, 24.0, 25.0, 30.0, 60.0] {
            let t = TimeSampling::frames(1, fps);
            for frame in 1..2000 {
                let b = t.bracket(f64::from(frame) / fps, 2000).unwrap();
                assert_eq!((b.floor, b.ceil), (frame as u32 - 1, frame as u32 - 1), "{frame}");
            }
        }
    }

    #[test]
    fn cyclic_and_acyclic_agree_with_a_linear_search() {
        let cyclic = TimeSampling::Cyclic { times: vec![0.1, 0.4, 0.5], period: 1.0 };
        let acyclic = TimeSampling::Acyclic((0..30).map(|i| f64::from(i * i) * 0.01).collect());
        for sampling in [cyclic, acyclic] {
            let times: Vec<f64> = (0..30).filter_map(|i| sampling.time(i)).collect();
            for k in 0..997 {
                let time = f64::from(k) * 0.0097 + 0.0031;
                let floor = times.iter().rposition(|&t| t <= time + TOLERANCE).unwrap_or(0) as u32;
                let ceil = times.iter().position(|&t| t >= time - TOLERANCE).unwrap_or(29) as u32;
                assert_eq!(sampling.floor(time, 30), Some(floor), "{time}");
                assert_eq!(sampling.ceil(time, 30), Some(ceil.max(floor)), "{time}");
            }
        }
    }

    #[test]
    fn bad_times_are_refused() {
        assert!(TimeSampling::Uniform { start: 0.0, step: 0.0 }.validate().is_err());
        assert!(TimeSampling::Acyclic(vec![]).validate().is_err());
        assert!(TimeSampling::Acyclic(vec![0.0, 0.0]).validate().is_err());
        assert!(TimeSampling::Acyclic(vec![0.0, f64::NAN]).validate().is_err());
        assert!(TimeSampling::Cyclic { times: vec![0.0, 2.0], period: 1.0 }.validate().is_err());
        assert!(TimeSampling::default().validate().is_ok());
    }
}
