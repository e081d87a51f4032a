/** Taint keys as releases around 1.8 spelled them. `outOfDisk` has no successor. */
const modernKeys: Readonly<Record<string, string>> = {
  'node.alpha.kubernetes.io/notReady': 'node.kubernetes.io/not-ready',
  'node.alpha.kubernetes.io/unreachable': 'node.kubernetes.io/unreachable',
  'node.kubernetes.io/memoryPressure': 'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/diskPressure': 'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/networkUnavailable': 'node.kubernetes.io/network-unavailable',
};

/** The key that says the same today; any other as it is. */
export function modernTaintKey(key: string): string {
  return Object.hasOwn(modernKeys, key) ? (modernKeys[key] ?? key) : key;
}
