package plan

// checkTexts looks at what each part of the document says by itself.
func (c *compiler) checkTexts() {}

// checkState looks at who writes and reads the state in which order.
func (c *compiler) checkState() {}
