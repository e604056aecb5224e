module tools/provider-kubernetes

go 1.26

require github.com/crossplane-contrib/provider-kubernetes v1.2.1
