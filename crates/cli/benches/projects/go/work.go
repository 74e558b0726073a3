package warm

import (
	"net/http"

	"example.org/dep"
)

func Work(n int) uint64 {
	x := uint64(http.StatusOK)
	for i := 0; i < n; i++ {
		x = dep.Mix(x) + uint64(i)
	}
	return x
}
