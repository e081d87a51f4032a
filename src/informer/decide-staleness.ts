const decimal = /^[0-9]+$/;

/**
 * Is `version` before `known`? Versions are compared as decimal numbers of any length, which is what the API server
 * promises for its own resources (upstream `resourceversion.CompareResourceVersion`). Where one of them is not a
 * decimal number nothing can be said, so the answer is no.
 */
export function isOlder(version: string, known: string): boolean {
  const a = exactNumber(version);
  const b = exactNumber(known);
  return a >= 0 && b >= 0 ? a < b : isOlderText(version, known);
}

/** The number that a text of up to fifteen digits is; -1 for any other text. Asked twice for each event. */
function exactNumber(text: string): number {
  if (text.length === 0 || text.length > 15) return -1;
  let value = 0;
  for (let place = 0; place < text.length; place += 1) {
    const digit = text.charCodeAt(place) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isOlderText(version: string, known: string): boolean {
  if (!decimal.test(version) || !decimal.test(known)) return false;
  const a = withoutLeadingZeros(version);
  const b = withoutLeadingZeros(known);
  return a.length === b.length ? a < b : a.length < b.length;
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=[0-9])/, '');
}

export interface Incarnation {
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Arrival extends Incarnation {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
}

/**
 * Was this event already overtaken by what we know? A server that repeats itself after a reconnect must not take an
 * object back in time, nor raise one from the dead. `stored` is what the store has under the same key, `reached` the
 * version that the stream had reached before this event.
 */
export function isStale(arrival: Arrival, stored: Incarnation | undefined, reached: string): boolean {
  if (stored === undefined) return isOlder(arrival.resourceVersion, reached);
  // A uid is never used twice: its deletion is final, whatever version the server puts on it.
  if (arrival.type === 'DELETED' && arrival.uid === stored.uid) return false;
  if (arrival.uid === stored.uid && arrival.resourceVersion === stored.resourceVersion) return true;
  return isOlder(arrival.resourceVersion, stored.resourceVersion);
}
