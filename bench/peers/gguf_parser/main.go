// What gguf-parser-go says of one file: its library called as its own command line calls it. That program is a
// module of its own, which the module proxy lacks.
package main

import (
	"encoding/json"
	"os"
	"time"

	parser "github.com/gpustack/gguf-parser-go"
)

func main() {
	start := time.Now()
	file, err := parser.ParseGGUFFile(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	run := file.EstimateLLaMACppRun(parser.WithLLaMACppContextSize(8192))
	said := run.SummarizeItem(true, 0, 0)
	json.NewEncoder(os.Stdout).Encode(map[string]any{"seconds": time.Since(start).Seconds(), "memory": said})
}
