package sweny

func (l *loader) parallel() {}
