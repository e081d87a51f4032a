/** Taint keys as spelled by releases around 1.8. `outOfDisk` has no successor. */
const modernKeys: Readonly<Record<string, string>> = {
  'node.alpha.kubernetes.io/notReady': 'node.kubernetes.io/not-ready',
  'node.alpha.kubernetes.io/unreachable': 'node.kubernetes.io/unreachable',
  'node.kubernetes.io/memoryPressure': 'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/diskPressure': 'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/networkUnavailable': 'node.kubernetes.io/network-unavailable',
};

/** The current key of an old one; other keys are returned as they are. */
export function modernTaintKey(key: string): string {
  return Object.hasOwn(modernKeys, key) ? (modernKeys[key] ?? key) : key;
}
