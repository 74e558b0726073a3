package warm

import "testing"

func TestWork(t *testing.T) {
	if Work(3000000000) == Work(3000000001) {
		t.Fatal("same")
	}
}
