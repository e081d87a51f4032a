/** The condition of a zone; `initial` until it is judged for the first time. */
export type ZoneCondition = 'initial' | 'normal' | 'partially-disrupted' | 'fully-disrupted';

/** The unnamed zone of nodes without zone labels needs a name to be spoken of. */
export function zoneName(zone: string): string {
  return zone === '' ? '(none)' : zone;
}
