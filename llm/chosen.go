package llm

// Chosen is implemented by models for which a user may have chosen which model answers a request that names none,
// such as the model in an environment variable.
type Chosen interface {
	// ChosenModel returns the name of that model, "" if nobody has chosen one: a default of the program or of
	// the server is not chosen.
	ChosenModel() string
}

// ChosenModel returns the model that a user has chosen for requests to m that name none, "" if there is none.
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
