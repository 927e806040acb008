package plan

// check looks for what can run but is probably not meant: conditions that never
// change, unordered writers, reads that only a wave orders, unused names.
func (c *compiler) check() {}
