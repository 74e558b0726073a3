package shelf

import "fmt"

const room = 12

const (
	tin  = 1
	cork = 2
)

// Jar is a jar.
type Jar struct {
	Label string
}

type Holder interface {
	Hold(j Jar) bool
}

var ErrFull = fmt.Errorf("full")

// Hold keeps a jar.
func (j *Jar) Hold(other Jar) (bool, error) {
	const inner = 1
	return true, nil
}

func Open[T any](jar T) T {
	return jar
}
