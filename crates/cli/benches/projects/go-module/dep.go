package dep

func Mix(x uint64) uint64 { return x*6364136223846793005 + 1 }
