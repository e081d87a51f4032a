#!/bin/sh
# Process 1 of a node, in mount, pid, uts, ipc, cgroup and network namespaces of its own: process-one.sh FOLDER PROGRAMS NODE ADDRESS ZONE.
# Mounts what a machine of its own has, and keeps containerd, kubelet and kube-proxy running as systemd would: each is started again a second
# after it ended, unless /run/hold.NAME exists. The folder of the node is FOLDER/NODE; that of the cluster is FOLDER.
set -u
FOLDER=$1 PROGRAMS=$2 NODE=$3 ADDRESS=$4 ZONE=$5
DISK=$FOLDER/$NODE
HIERARCHIES='cpu cpuacct cpuset memory devices freezer blkio pids'

hostname "$NODE"
mount --make-rprivate /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=755 cgroup /sys/fs/cgroup
for each in $HIERARCHIES; do
  mkdir -p "/sys/fs/cgroup/$each"
  mount -t cgroup -o "$each" cgroup "/sys/fs/cgroup/$each"
done
mkdir -p /sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/lock /run/netns /run/xtables /run/own /run/bin
for each in etc/kubernetes etc/cni opt/cni var/lib/kubelet var/lib/containerd var/lib/cni var/log/pods var/log/containers; do
  mkdir -p "$DISK/root/$each" "/$each"
  mount --bind "$DISK/root/$each" "/$each"
done

# own FILE TEXT: the node reads this text in a file that belongs to the whole machine.
own() {
  copy=/run/own/$(echo "$1" | tr / .)
  printf '%s\n' "$2" > "$copy"
  mount --bind "$copy" "$1"
}
own /proc/sys/kernel/random/boot_id "$(cat /proc/sys/kernel/random/uuid)"
own /etc/machine-id "$(cat "$DISK/machine-id")"
own /etc/hosts "127.0.0.1 localhost $NODE"
own /etc/resolv.conf '# no name server'
# What a kubelet would set for the whole machine.
own /proc/sys/vm/overcommit_memory 1
own /proc/sys/vm/panic_on_oom 0
own /proc/sys/kernel/panic 10
own /proc/sys/kernel/panic_on_oops 1
own /proc/sys/kernel/keys/root_maxkeys 1000000
own /proc/sys/kernel/keys/root_maxbytes 25000000
mount --make-rshared /
sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1 net.ipv4.conf.all.rp_filter=0 2> /dev/null
# The pods of the last boot are gone, and their bridge with them.
ip link delete cni0 2> /dev/null
ln -s "$PROGRAMS/cni" /opt/cni/bin 2> /dev/null
for each in runc containerd-shim-runc-v2 ctr; do ln -s "$PROGRAMS/$each" /run/bin/; done
export PATH=/run/bin:$PATH HOME=/root

# keep NAME COMMAND...
keep() {
  name=$1
  shift
  while :; do
    while [ -e "/run/hold.$name" ]; do sleep 0.2; done
    echo "--- $(date -u +%FT%T.%3NZ) $name starts" >> "$DISK/$name.log"
    "$@" >> "$DISK/$name.log" 2>&1 &
    echo $! > "/run/$name.pid"
    wait $!
    echo "--- $(date -u +%FT%T.%3NZ) $name ended with $?" >> "$DISK/$name.log"
    sleep 1
  done
}
keep containerd "$PROGRAMS/containerd" --config "$DISK/containerd.toml" &
until "$PROGRAMS/ctr" version > /dev/null 2>&1; do sleep 0.1; done
keep kubelet "$PROGRAMS/kubelet" --config "$DISK/kubelet.json" --kubeconfig "$DISK/kubelet.conf" --hostname-override "$NODE" \
  --node-ip "$ADDRESS" --node-labels "topology.kubernetes.io/zone=$ZONE,topology.kubernetes.io/region=r" --v 2 &
keep kube-proxy "$PROGRAMS/kube-proxy" --config "$DISK/kube-proxy.json" --hostname-override "$NODE" &
touch /run/booted
while :; do wait; sleep 0.1; done
