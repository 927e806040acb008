module github.com/wavefold/wavefold

go 1.26
