// Control groups (v1) of the nodes: children of this process' own, so that nothing is changed above them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The hierarchies that a kubelet and containerd use. */
const hierarchies = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'];

/** Whether the machine has control groups v2 alone. Beside v1 they are mounted in a folder of their own. */
export function hasUnifiedControlGroups(): boolean {
  return existsSync('/sys/fs/cgroup/cgroup.controllers');
}

/** Hierarchies that are not mounted. */
export function absentHierarchies(): readonly string[] {
  return hierarchies.filter((name) => !existsSync(join('/sys/fs/cgroup', name)));
}

/** Makes the control groups of a node, empty, and returns their folders. */
export function makeControlGroups(prefix: string, node: string): readonly string[] {
  return hierarchies.map((hierarchy) => {
    const folder = join('/sys/fs/cgroup', hierarchy, ownGroup(hierarchy), prefix, node);
    removeControlGroup(folder);
    mkdirSync(folder, { recursive: true });
    if (hierarchy === 'cpuset') for (const each of [dirname(folder), folder]) inheritCpus(each);
    return folder;
  });
}

/** Removes a control group without processes, and those in it. Those that are still in use stay. */
export function removeControlGroup(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const child = join(folder, name);
    if (statSync(child, { throwIfNoEntry: false })?.isDirectory() === true) removeControlGroup(child);
  }
  removeEmptyGroup(folder);
}

/** Removes a control group that has neither processes nor others in it. Any other stays. */
export function removeEmptyGroup(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Its last process may not be gone yet.
  }
}

function ownGroup(hierarchy: string): string {
  const name = hierarchy === 'systemd' ? 'name=systemd' : hierarchy;
  const line = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .find((each) => each.split(':')[1]?.split(',').includes(name));
  return line?.split(':')[2] ?? '/';
}

/** A new group of cpuset has no processor. */
function inheritCpus(folder: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(folder, file), readFileSync(join(dirname(folder), file)));
}
