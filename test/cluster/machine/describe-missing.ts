// Whether a machine can run a cluster, before anything is built.

/** What is asked of a machine. */
export interface MachineReport {
  /** As `process.platform` has it. */
  readonly platform: string;
  readonly isRoot: boolean;
  /** Control groups are v2 alone: /sys/fs/cgroup is that hierarchy. */
  readonly isUnified: boolean;
  /** Hierarchies of control groups v1 that are needed and not mounted. */
  readonly absentHierarchies: readonly string[];
  /** Programs that are needed and not on the PATH. */
  readonly absentPrograms: readonly string[];
}

/** Why the machine cannot, in one sentence; undefined: it can. What no installation changes is first. */
export function describeMissing(machine: MachineReport): string | undefined {
  const { platform, isRoot, isUnified, absentHierarchies, absentPrograms } = machine;
  if (platform !== 'linux') return `Linux is needed (this is ${platform})`;
  if (isUnified)
    return 'control groups v1 are needed, and this machine has v2 only (/sys/fs/cgroup is one hierarchy): use a virtual machine that boots with v1';
  if (absentHierarchies.length > 0)
    return `control groups v1 of ${absentHierarchies.join(', ')} are not mounted in /sys/fs/cgroup`;
  if (!isRoot) return 'root is needed, for network namespaces, mounts and control groups';
  if (absentPrograms.length > 0)
    return `no ${absentPrograms.join(', ')} on the PATH (Debian: apt-get install golang gcc libseccomp-dev iproute2 iptables ipset conntrack openssl)`;
  return undefined;
}
