package journal

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/wavefold/wavefold/scheduler/machine"
)

// Issuer computes checksums of commands. It has a buffer, so that a checksum takes no allocation. The
// zero Issuer is ready to use, by one goroutine at a time.
type Issuer struct{ room []byte }

// Issued returns a checksum of commands, except their events: the operation and the execution of
// each, in order, and each item of the ranges to run. If a replay issues commands with another
// checksum, it has made other decisions. The checksum of no commands is 0.
func (s *Issuer) Issued(commands []machine.Command) uint32 {
	sum := uint32(0)
	for i := range commands {
		c := &commands[i]
		if c.Op == machine.OpEmit {
			continue
		}
		b := append(s.room[:0], byte(c.Op))
		b = binary.LittleEndian.AppendUint64(b, uint64(c.ID.Frame))
		b = binary.LittleEndian.AppendUint32(b, uint32(c.ID.Attempt))
		if c.ID.Node >= 0 && c.Plan != nil {
			b = append(b, c.Plan.Nodes[c.ID.Node].ID...)
		}
		b = slices.Grow(b, 8)
		s.room = b
		if c.Op != machine.OpRun || c.ID.To == 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(c.ID.From))
			b = binary.LittleEndian.AppendUint32(b, uint32(c.ID.To))
			sum = crc32.Update(sum, castagnoli(), b)
			continue
		}
		for item := c.ID.From; item < c.ID.To; item++ { // as if each item had been issued alone
			sum = crc32.Update(sum, castagnoli(), binary.LittleEndian.AppendUint32(b, uint32(item)))
		}
	}
	return sum
}
