package draw

import (
	"cmp"
	"math"
	"slices"
)

// box is a rectangle to be placed, or a bend of an edge. A bend has the size of the label
// drawn there, or no size.
type box struct {
	w, h   float64
	tail   float64 // width at its right that does not count for its center
	level  int
	x, y   float64 // of the upper left corner
	column int     // index in its row
	bend   bool
}

func (b *box) center() float64 { return b.x + (b.w-b.tail)/2 }

// span is an edge between boxes. Its label is in the row above its lower end, so the ends
// of a span with a label are at least two rows apart. A span between two boxes of one row
// passes through the row below.
type span struct {
	up, down     int
	label        float64 // width of the label, or 0 if there is none
	leave, enter float64 // offsets of its ends to the right of the center of its upper and lower box
}

// link is a piece of an edge between boxes of neighbouring rows, the upper box first.
type link struct {
	up, down int
	shift    float64 // x distance from the center of the upper box to the center of the lower one if the link is vertical
}

// neighbour is the box at the other end of a link, and the x distance from its center to
// the center of the box at this end if the link is vertical.
type neighbour struct {
	box   int
	shift float64
}

// layout is a graph being laid out.
//
// A layered graph is laid out in rows, one for each level. Long edges are cut into links
// between neighbouring rows, and each bend takes part in the order of its row. The order is
// chosen so that few edges cross; then each box is placed as near to its neighbours as the
// other boxes of its row allow. The result depends only on the graph.
//
// A label takes space in a row, like a box. Edges pass each row vertically and change their
// direction only between rows, so a label covers no box, no other label and no edge except
// its own.
type layout struct {
	boxes []box
	rows  [][]int
	links []link
	ups   [][]neighbour // by box: the boxes above and below it
	downs [][]neighbour
	// chains lists the boxes that each edge passes, including its ends.
	chains [][]int
}

// Distances in pixels.
const (
	boxGap      = 28
	bendGap     = 14
	labelHeight = 18
)

// sweeps is the number of passes that improve order and positions; more passes change
// little.
const sweeps = 12

// arrange lays out boxes, whose size and level are set, and the edges between them.
func arrange(boxes []box, edges []span) *layout {
	l := &layout{boxes: boxes}
	for _, e := range edges {
		l.chains = append(l.chains, l.splitEdge(e))
	}
	for i := range l.boxes {
		b := &l.boxes[i]
		for len(l.rows) <= b.level {
			l.rows = append(l.rows, nil)
		}
		b.column = len(l.rows[b.level])
		l.rows[b.level] = append(l.rows[b.level], i)
	}
	l.ups, l.downs = make([][]neighbour, len(l.boxes)), make([][]neighbour, len(l.boxes))
	for _, k := range l.links {
		l.downs[k.up] = append(l.downs[k.up], neighbour{k.down, k.shift})
		l.ups[k.down] = append(l.ups[k.down], neighbour{k.up, -k.shift})
	}
	l.order()
	l.assignX()
	return l
}

// splitEdge divides an edge into links from row to row.
func (l *layout) splitEdge(e span) []int {
	chain := []int{e.up}
	bend := func(level int) {
		l.boxes = append(l.boxes, box{level: level, bend: true})
		chain = append(chain, len(l.boxes)-1)
	}
	first, last := l.boxes[e.up].level, l.boxes[e.down].level
	for level := first + 1; level < last; level++ {
		bend(level)
	}
	if first == last {
		bend(first + 1)
	}
	if e.label > 0 {
		b := &l.boxes[len(l.boxes)-1]
		b.w, b.h = e.label, labelHeight
	}
	chain = append(chain, e.down)
	if first == last {
		l.links = append(l.links, link{e.up, chain[1], e.leave}, link{e.down, chain[1], e.enter})
		return chain
	}
	begin := len(l.links)
	for i := 1; i < len(chain); i++ {
		l.links = append(l.links, link{up: chain[i-1], down: chain[i]})
	}
	l.links[begin].shift += e.leave
	l.links[len(l.links)-1].shift -= e.enter
	return chain
}

// order chooses the order of the boxes in each row. Each sweep, downwards and upwards in
// turn, sorts the boxes by the barycentre of their neighbours; the order with the fewest
// crossings is kept.
func (l *layout) order() {
	best, fewest := l.columns(), l.crossings()
	for i := 0; i < sweeps && fewest > 0; i++ {
		if i%2 == 0 {
			for r := 1; r < len(l.rows); r++ {
				l.sortRow(r, l.ups)
			}
		} else {
			for r := len(l.rows) - 2; r >= 0; r-- {
				l.sortRow(r, l.downs)
			}
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.columns(), n
		}
	}
	for i := range l.boxes {
		l.boxes[i].column = best[i]
	}
	for _, row := range l.rows {
		slices.SortFunc(row, func(a, b int) int { return cmp.Compare(l.boxes[a].column, l.boxes[b].column) })
	}
}

func (l *layout) columns() []int {
	out := make([]int, len(l.boxes))
	for i := range l.boxes {
		out[i] = l.boxes[i].column
	}
	return out
}

func (l *layout) sortRow(r int, neighbours [][]neighbour) {
	row := l.rows[r]
	mean := make(map[int]float64, len(row))
	for _, b := range row {
		mean[b] = float64(l.boxes[b].column)
		if list := neighbours[b]; len(list) > 0 {
			sum := 0
			for _, n := range list {
				sum += l.boxes[n.box].column
			}
			mean[b] = float64(sum) / float64(len(list))
		}
	}
	slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for i, b := range row {
		l.boxes[b].column = i
	}
}

// crossings counts the pairs of links that cross, row by row: in the order of their upper
// ends, two links cross if their lower ends are out of order.
func (l *layout) crossings() int {
	n := 0
	for r := 0; r+1 < len(l.rows); r++ {
		counted := make([]int, len(l.rows[r+1])+1) // a tree of prefix sums
		total := 0
		for _, b := range l.byPlace(r) {
			downs := make([]int, 0, len(l.downs[b]))
			for _, d := range l.downs[b] {
				downs = append(downs, l.boxes[d.box].column)
			}
			for _, at := range downs {
				n += total
				for i := at + 1; i > 0; i -= i & -i {
					n -= counted[i]
				}
			}
			for _, at := range downs {
				total++
				for i := at + 1; i < len(counted); i += i & -i {
					counted[i]++
				}
			}
		}
	}
	return n
}

func (l *layout) byPlace(r int) []int {
	row := slices.Clone(l.rows[r])
	slices.SortFunc(row, func(a, b int) int { return cmp.Compare(l.boxes[a].column, l.boxes[b].column) })
	return row
}

// assignX sets the x of each box: it packs the rows to the left, and then moves boxes
// towards their neighbours above and below in turn.
func (l *layout) assignX() {
	for r := range l.rows {
		l.draw(r, func(int) (float64, bool) { return 0, false })
	}
	for i := range sweeps {
		if i%2 == 0 {
			for r := range l.rows {
				l.draw(r, l.barycentre(l.ups))
			}
		} else {
			for r := len(l.rows) - 1; r >= 0; r-- {
				l.draw(r, l.barycentre(l.downs))
			}
		}
	}
	left := math.Inf(1)
	for i := range l.boxes {
		left = min(left, l.boxes[i].x)
	}
	for i := range l.boxes {
		l.boxes[i].x -= left
	}
}

// barycentre returns a function that returns the preferred center of a box, and false if the
// box has no neighbours.
func (l *layout) barycentre(neighbours [][]neighbour) func(b int) (float64, bool) {
	return func(b int) (float64, bool) {
		list := neighbours[b]
		if len(list) == 0 {
			return l.boxes[b].center(), false
		}
		sum := 0.0
		for _, n := range list {
			sum += l.boxes[n.box].center() - n.shift
		}
		return sum / float64(len(list)), true
	}
}

// draw places one row. preferred returns the preferred center of a box. Boxes that would overlap
// form blocks, and the position of a block minimizes the squared distances to the preferred centers of
// its boxes. Bends have a higher weight, so that long edges become straight.
func (l *layout) draw(r int, preferred func(b int) (float64, bool)) {
	type block struct {
		first       int     // index of its first box
		at          float64 // x of the left side of that box
		sum, weight float64
	}
	row := l.rows[r]
	offset := make([]float64, len(row)) // of the left side of a box in the row packed to the left
	var blocks []block
	for i, b := range row {
		if i > 0 {
			before := &l.boxes[row[i-1]]
			gap := float64(boxGap)
			if before.bend || l.boxes[b].bend {
				gap = bendGap
			}
			offset[i] = offset[i-1] + before.w + gap
		}
		target, given := preferred(b)
		weight := 0.1
		if given {
			if weight = 1; l.boxes[b].bend {
				weight = 4
			}
		}
		target -= (l.boxes[b].w-l.boxes[b].tail)/2 + offset[i]             // for a row that begins at 0
		if len(blocks) > 0 && len(l.ups[b]) == 0 && len(l.downs[b]) == 0 { // a box without neighbours stays close to the one before it
			target, weight = blocks[len(blocks)-1].at, 0.001
		}
		blocks = append(blocks, block{i, target, target * weight, weight})
		for n := len(blocks); n > 1 && blocks[n-1].at < blocks[n-2].at; n-- {
			a := &blocks[n-2]
			a.sum, a.weight = a.sum+blocks[n-1].sum, a.weight+blocks[n-1].weight
			a.at = a.sum / a.weight
			blocks = blocks[:n-1]
		}
	}
	for n, k := range blocks {
		last := len(row)
		if n+1 < len(blocks) {
			last = blocks[n+1].first
		}
		for i := k.first; i < last; i++ {
			l.boxes[row[i]].x = k.at + offset[i]
		}
	}
}

// bounds returns the y of the top and the bottom of a row.
func (l *layout) bounds(row int) (top, bottom float64) {
	top, bottom = math.Inf(1), math.Inf(-1)
	for _, b := range l.rows[row] {
		top, bottom = min(top, l.boxes[b].y), max(bottom, l.boxes[b].y+l.boxes[b].h)
	}
	return top, bottom
}

// shifts returns, for each row, the maximum distance that edges move sideways between it
// and the row above.
func (l *layout) shifts() []float64 {
	out := make([]float64, len(l.rows))
	for _, k := range l.links {
		up, down := &l.boxes[k.up], &l.boxes[k.down]
		out[down.level] = max(out[down.level], math.Abs(up.center()+k.shift-down.center()))
	}
	return out
}

// assignY sets the y of each row, with above(row) pixels above it, and returns the total
// height.
func (l *layout) assignY(above func(row int) float64) float64 {
	y := 0.0
	for r, row := range l.rows {
		y += above(r)
		height := 0.0
		for _, b := range row {
			height = max(height, l.boxes[b].h)
		}
		for _, b := range row {
			l.boxes[b].y = y + (height-l.boxes[b].h)/2
		}
		y += height
	}
	return y
}

// width returns the total width.
func (l *layout) width() float64 {
	w := 0.0
	for i := range l.boxes {
		w = max(w, l.boxes[i].x+l.boxes[i].w)
	}
	return w
}
