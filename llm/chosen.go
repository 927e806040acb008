package llm

// Chosen is implemented by clients that know which model the user has chosen, for example in an environment variable,
// for requests that do not name a model.
type Chosen interface {
	// ChosenModel returns the name of the model, or "" if the user has not chosen one. A default of the program or
	// of the server does not count.
	ChosenModel() string
}

// ChosenModel returns the model that the user has chosen for requests to m that do not name a model, or "" if there is
// none.
func ChosenModel(m Model) string {
	for {
		switch w := m.(type) {
		case *wrapper:
			if w.name != "" {
				return w.name
			}
			m = w.inner
		case *misconfigured:
			m = w.inner
		case Chosen:
			return w.ChosenModel()
		default:
			return ""
		}
	}
}
