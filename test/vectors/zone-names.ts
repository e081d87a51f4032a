/** The reference joins region and zone with a NUL byte, we with a slash. */
export function ourZone(key: string): string {
  return key === '' ? '' : key.split(':\u0000:').join('/');
}

export function theirZone(zone: string): string {
  return zone === '' ? '' : zone.replace('/', ':\u0000:');
}

const states: Readonly<Record<string, string>> = {
  initial: 'Initial',
  normal: 'Normal',
  'partially-disrupted': 'PartialDisruption',
  'fully-disrupted': 'FullDisruption',
};

export function theirState(condition: string): string {
  return states[condition] ?? condition;
}
