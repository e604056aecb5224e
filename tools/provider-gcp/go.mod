module tools/provider-gcp

go 1.26

require github.com/upbound/provider-gcp v1.14.0
