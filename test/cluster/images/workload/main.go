// workload answers on port 8000 with the names of its pod and node, until it is told to end.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		os.Exit(0)
	}()
	pod, _ := os.Hostname()
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(answer, pod, os.Getenv("NODE"))
	})
	if err := http.ListenAndServe(":8000", nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
