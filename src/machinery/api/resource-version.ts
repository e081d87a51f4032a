/** Comparison of resourceVersions. */

const decimal = /^[0-9]+$/;

/**
 * Whether `version` is before `known`. Versions are compared as decimal numbers of any length, which the API server
 * guarantees for its own resources (upstream `resourceversion.CompareResourceVersion`). False if one of them is not a
 * decimal number.
 */
export function isOlder(version: string, known: string): boolean {
  const a = exactNumber(version);
  const b = exactNumber(known);
  return a >= 0 && b >= 0 ? a < b : isOlderText(version, known);
}

/** True if both versions are decimal numbers, so that {@link isOlder} can compare them. */
export function areComparable(a: string, b: string): boolean {
  return decimal.test(a) && decimal.test(b);
}

/** The value of a decimal number of up to fifteen digits; -1 for any other text. Hot path: called twice for each event. */
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
