// Command evaluate-policies reads NetworkPolicies and packets from standard input, and writes whether they allow each
// packet: a list of booleans in JSON. It asks Cyclonus, from which SIG Network's policy-assistant has grown.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/mattfenwick/cyclonus/pkg/matcher"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

type question struct {
	Policies []*networking.NetworkPolicy `json:"policies"`
	Packets  []packet                    `json:"packets"`
}

type packet struct {
	Source      peer          `json:"source"`
	Destination peer          `json:"destination"`
	Port        int           `json:"port"`
	Protocol    core.Protocol `json:"protocol"`
}

// peer is a pod, or a host outside of the cluster where it names no namespace.
type peer struct {
	IP              string            `json:"ip"`
	Namespace       string            `json:"namespace"`
	NamespaceLabels map[string]string `json:"namespace_labels"`
	PodLabels       map[string]string `json:"pod_labels"`
}

func (p peer) traffic() *matcher.TrafficPeer {
	if p.Namespace == "" {
		return &matcher.TrafficPeer{IP: p.IP}
	}
	return &matcher.TrafficPeer{IP: p.IP, Internal: &matcher.InternalPeer{
		Namespace:       p.Namespace,
		NamespaceLabels: p.NamespaceLabels,
		PodLabels:       p.PodLabels,
	}}
}

func main() {
	var asked question
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate-policies:", err)
		os.Exit(1)
	}
	policy := matcher.BuildNetworkPolicies(false, asked.Policies)
	allowed := make([]bool, len(asked.Packets))
	for i, sent := range asked.Packets {
		allowed[i] = policy.IsTrafficAllowed(&matcher.Traffic{
			Source:       sent.Source.traffic(),
			Destination:  sent.Destination.traffic(),
			ResolvedPort: sent.Port,
			Protocol:     sent.Protocol,
		}).IsAllowed()
	}
	if err := json.NewEncoder(os.Stdout).Encode(allowed); err != nil {
		panic(err)
	}
}
