package draw

import "charm.land/lipgloss/v2"

// font is a style of text in an SVG picture.
type font struct {
	size     float64
	advances *[95]uint8 // nil for a monospace font
}

// The fonts of svgStyle.
var (
	nameFont  = font{16, &boldAdvances}
	titleFont = font{13, &boldAdvances}
	headFont  = font{11, &boldAdvances}
	noteFont  = font{11, &plainAdvances}
	codeFont  = font{10.5, nil}
)

// Widths of the characters from the space to the tilde, in hundredths of the font size. A
// picture does not choose its font, so these are the widths of DejaVu Sans, which is as
// wide as any common system font.
var (
	plainAdvances = [95]uint8{
		32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54,
		100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 50,
		50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
	}
	boldAdvances = [95]uint8{
		35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 40, 40, 84, 84, 84, 59,
		100, 78, 77, 74, 84, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84, 86, 74, 86, 78, 73, 69, 82, 78, 111, 78, 73, 73, 46, 37, 46, 84, 50,
		50, 68, 72, 60, 72, 68, 44, 72, 72, 35, 35, 67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72, 84,
	}
)

// Widths of a cell, in font sizes: of a monospace font and of characters that take two
// cells, and of other letters in proportional fonts.
const (
	monoCell  = 0.61
	otherCell = 0.9
)

// width returns the width of a string without control characters.
func (f font) width(s string) float64 {
	ems := 0.0
	for _, r := range s {
		cells := float64(lipgloss.Width(string(r)))
		switch {
		case f.advances == nil, cells == 2:
			ems += cells * monoCell
		case r >= ' ' && r <= '~':
			ems += float64(f.advances[r-' ']) / 100
		default:
			ems += cells * otherCell
		}
	}
	return ems * f.size
}
