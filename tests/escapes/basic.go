// SPDX-License-Identifier: Apache-2.0

// basic.go - the basic attempts in a static Go program: open, write, exec PATH, connect ADDRESS PORT
package main

import (
	"errors"
	"net"
	"os"
	"syscall"
)

func work() error {
	switch os.Args[1] {
	case "open":
		text, err := os.ReadFile(os.Args[2])
		os.Stdout.Write(text)
		return err
	case "write":
		return os.WriteFile(os.Args[2], []byte("changed\n"), 0644)
	case "exec":
		return syscall.Exec(os.Args[2], os.Args[2:3], nil)
	default:
		conn, err := net.Dial("tcp", os.Args[2]+":"+os.Args[3])
		if err == nil {
			conn.Close()
		}
		return err
	}
}

func main() {
	var number syscall.Errno
	err := work()
	if errors.As(err, &number) {
		os.Exit(int(number))
	}
	if err != nil {
		os.Exit(1)
	}
}
