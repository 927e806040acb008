package plan

// Errors are reported where a part is compiled. The checks below look for what
// can run but is probably not meant; all they report is a warning or a hint.

// checkTexts looks at what each part says by itself. It does not need a sound
// graph, so that a warning is not hidden by an error elsewhere.
func (c *compiler) checkTexts() {
	c.checkPhases()
	c.checkDuplicateEdges()
	c.checkConditions()
	c.checkHandles()
	c.idleHandles()
	c.checkUntils()
}

// checkState looks at who writes and reads the state, and files, in which order.
func (c *compiler) checkState() {
	visits := maxVisits
	c.checkWrites(&visits)
	c.checkSkips()
	c.checkItems()
	c.checkReads(&visits)
	c.checkJoins()
	c.checkUnusedFields()
	c.checkTargets()
}
