// Package progress estimates rates and remaining times from progress reports: a rate over a
// sliding window, and an estimate of the rest. It has no clock; callers pass the current
// time.
package progress

import (
	"fmt"
	"strconv"
	"time"
)

const (
	// window is the length of the sliding window.
	window = 10 * time.Second
	// sampleInterval is the minimum time between two samples.
	sampleInterval = 500 * time.Millisecond
	// minSpan is the minimum time span for a rate; rates over shorter spans mean little.
	minSpan = time.Second
)

// sample is the progress at a point in time.
type sample struct {
	at       time.Time
	done     int64
	fraction float64 // fraction of the total, from 0 to 1
}

// Estimator tracks progress over time. The zero Estimator has not begun.
type Estimator struct {
	samples []sample // the first is at most one sample older than the window
	last    sample
	// Done is the number of steps done, Of the total number, 0 if it is unknown.
	Done, Of int64
	// read is the number of bytes of the input that have been read, size the size of the
	// input, 0 if it is unknown.
	read, size int64
}

// Begin sets the start time.
func (p *Estimator) Begin(at time.Time) {
	if len(p.samples) == 0 {
		p.samples = append(p.samples, sample{at: at})
		p.last = p.samples[0]
	}
}

// Step records that done of of steps are done.
func (p *Estimator) Step(at time.Time, done, of int64) {
	p.Done, p.Of = done, of
	p.addSample(at)
}

// Input records that read of size bytes of the input have been read.
func (p *Estimator) Input(at time.Time, read, size int64) {
	p.read, p.size = read, size
	p.addSample(at)
}

func (p *Estimator) addSample(at time.Time) {
	p.Begin(at)
	fraction, _ := p.Fraction()
	p.last = sample{at, p.Done, fraction}
	newest := &p.samples[len(p.samples)-1]
	switch elapsed := at.Sub(newest.at); {
	case elapsed <= 0: // another report for the same time
		newest.done, newest.fraction = p.last.done, p.last.fraction
		return
	case elapsed < sampleInterval:
		return
	}
	p.samples = append(p.samples, p.last)
	for len(p.samples) > 2 && at.Sub(p.samples[1].at) > window {
		p.samples = p.samples[1:]
	}
}

// Fraction returns the fraction of the total that is done, from 0 to 1: by the steps, or else
// by the input that was read. ok is false if neither total is known.
func (p *Estimator) Fraction() (fraction float64, ok bool) {
	switch {
	case p.Of > 0:
		return min(1, float64(p.Done)/float64(p.Of)), true
	case p.size > 0:
		return min(1, float64(p.read)/float64(p.size)), true
	}
	return 0, false
}

// baseline returns the sample that the rate is measured from, and whether the time span is
// long enough.
func (p *Estimator) baseline(now time.Time) (sample, bool) {
	if len(p.samples) == 0 {
		return sample{}, false
	}
	from := p.samples[0]
	for _, s := range p.samples[1:] {
		if now.Sub(s.at) < window {
			break
		}
		from = s
	}
	return from, now.Sub(from.at) >= minSpan
}

// Rate returns the recent number of steps per second. ok is false if it is not yet known or
// no step was done.
func (p *Estimator) Rate(now time.Time) (perSecond float64, ok bool) {
	from, ok := p.baseline(now)
	if !ok || p.last.done <= from.done {
		return 0, false
	}
	return float64(p.last.done-from.done) / now.Sub(from.at).Seconds(), true
}

// Remaining estimates the remaining time at the recent rate. ok is false if there is no
// estimate, all is done, or there was no recent progress.
func (p *Estimator) Remaining(now time.Time) (left time.Duration, ok bool) {
	from, ok := p.baseline(now)
	fraction, known := p.Fraction()
	if !ok || !known || fraction >= 1 || p.last.fraction <= from.fraction {
		return 0, false
	}
	seconds := (1 - fraction) / (p.last.fraction - from.fraction) * now.Sub(from.at).Seconds()
	if seconds > (99 * time.Hour).Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// Percent formats a fraction, rounded down, so that 100% means all of it; the result is
// always four cells wide.
func Percent(fraction float64) string { return fmt.Sprintf("%3d%%", int(fraction*100)) }

// Count formats a number in groups of three digits.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Rate formats a rate with two or three digits: 52k/s, 950/s, 1.4/s, 12/min.
func Rate(perSecond float64) string {
	switch {
	case perSecond >= 0.95e6:
		return short(perSecond/1e6) + "M/s"
	case perSecond >= 995:
		return short(perSecond/1e3) + "k/s"
	case perSecond >= 0.95:
		return short(perSecond) + "/s"
	case perSecond*60 >= 0.95:
		return short(perSecond*60) + "/min"
	}
	return short(perSecond*3600) + "/h"
}

func short(x float64) string {
	if x < 9.95 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// Remaining formats a remaining time; longer times are rounded more coarsely.
func Remaining(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds left", int((d+time.Second-1)/time.Second))
	case d < 10*time.Minute:
		d = d.Round(5 * time.Second)
		return fmt.Sprintf("%dm%02ds left", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm left", d.Round(time.Minute)/time.Minute)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm left", d/time.Hour, d%time.Hour/time.Minute)
}
