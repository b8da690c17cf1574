// SPDX-License-Identifier: Apache-2.0
// client.go - http, TCP and UDP as Go does them: raw system calls, a resolver of its own.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	host, where := os.Args[2], os.Args[2]+":7007"
	var err error
	switch os.Args[1] {
	case "http":
		var answer *http.Response
		client := http.Client{Timeout: 10 * time.Second}
		if answer, err = client.Get("http://" + host + "/hello"); err == nil {
			io.Copy(os.Stdout, answer.Body)
		}
	default:
		var conn net.Conn
		if conn, err = net.DialTimeout(os.Args[1], where, 10*time.Second); err == nil {
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			data := make([]byte, 64)
			n := 0
			if _, err = conn.Write([]byte("echo")); err == nil {
				n, err = conn.Read(data)
				fmt.Println(string(data[:n]))
			}
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
