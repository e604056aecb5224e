module tools/envoy-gateway

go 1.26

require github.com/envoyproxy/gateway v1.8.3
