/** kube-controller-manager joins region and zone with a NUL byte, this project with a slash. */
export function zoneKey(key: string): string {
  return key === '' ? '' : key.split(':\u0000:').join('/');
}

export function upstreamZone(zone: string): string {
  return zone === '' ? '' : zone.replace('/', ':\u0000:');
}

const states: Readonly<Record<string, string>> = {
  initial: 'Initial',
  normal: 'Normal',
  'partially-disrupted': 'PartialDisruption',
  'fully-disrupted': 'FullDisruption',
};

export function upstreamZoneState(condition: string): string {
  return states[condition] ?? condition;
}
