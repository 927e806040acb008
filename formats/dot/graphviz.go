package dot

import (
	"slices"
	"strings"
)

// graphvizShapes are shapes of Graphviz that look like a misspelling of a shape with a
// meaning, but are not.
var graphvizShapes = []string{"doubleoctagon", "square"}

// graphvizKeys are the attributes for drawing that occur in real files. They are kept.
// They are neither treated as misspelled names nor passed to Go functions as arguments.
var graphvizKeys = []string{
	"arrowhead", "arrowsize", "arrowtail", "bb", "bgcolor", "center", "clusterrank", "color", "colorscheme", "comment", "compound",
	"concentrate", "constraint", "decorate", "dir", "dpi", "fillcolor", "fixedsize", "fontcolor", "fontname", "fontpath", "fontsize",
	"forcelabels", "gradientangle", "group", "headlabel", "headport", "height", "href", "id", "image", "imagescale", "labelangle",
	"labeldistance", "labelfontcolor", "labelfontname", "labelfontsize", "labeljust", "labelloc", "layer", "layers", "layout", "len",
	"lhead", "ltail", "margin", "minlen", "nodesep", "nojustify", "ordering", "orientation", "outputorder", "overlap", "pad", "page",
	"pencolor", "penwidth", "peripheries", "pin", "pos", "quantum", "rank", "ranksep", "ratio", "regular", "rotate", "samehead",
	"sametail", "samplepoints", "scale", "shapefile", "sides", "size", "skew", "sortv", "splines", "style", "taillabel", "tailport",
	"target", "tooltip", "truecolor", "URL", "vertices", "viewport", "width", "xlabel", "z",
}

// rareGraphvizKeys are the other attributes of Graphviz. They are kept as well, but are
// passed to Go functions as arguments, because functions use some of these names.
var rareGraphvizKeys = []string{
	"Damping", "K", "TBbalance", "_background", "area", "beautify", "charset", "cluster", "defaultdist", "dim", "dimen",
	"diredgeconstraints", "distortion", "edgeURL", "edgehref", "edgetarget", "edgetooltip", "epsilon", "esep", "fontnames", "headURL",
	"head_lp", "headclip", "headhref", "headtarget", "headtooltip", "imagepath", "imagepos", "inputscale", "labelURL", "label_scheme",
	"labelfloat", "labelhref", "labeltarget", "labeltooltip", "landscape", "layerlistsep", "layerselect", "layersep", "levels",
	"levelsgap", "lheight", "linelength", "lp", "lwidth", "maxiter", "mclimit", "mindist", "mode", "newrank", "normalize",
	"notranslate", "nslimit", "nslimit1", "oneblock", "overlap_scaling", "overlap_shrink", "pack", "packmode", "pagedir", "quadtree",
	"radius", "rects", "remincross", "repulsiveforce", "resolution", "root", "rotation", "searchsize", "sep", "showboxes", "smoothing",
	"start", "stylesheet", "tailURL", "tail_lp", "tailclip", "tailhref", "tailtarget", "tailtooltip", "voro_margin", "xdotversion", "xlp",
}

// forDrawing reports whether an attribute belongs to Graphviz. A stylesheet does if it
// is a URL rather than rules for models.
func forDrawing(key, value string) bool {
	if key == "stylesheet" && strings.Contains(value, "{") {
		return false
	}
	return slices.Contains(graphvizKeys, key) || slices.Contains(rareGraphvizKeys, key)
}
