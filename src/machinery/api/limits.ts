/**
 * Limits of texts that are taken out of objects. kube-apiserver limits the size of an object to 1.5 MiB, and the length of
 * few texts in it: a reason, a message or an annotation may be as large as the object.
 */

/** Characters of a text for people: a reason, a message, a phase. Longer ones are cut. */
export const textCharsMax = 256;
/** Characters of a value that is compared, parsed or written back. A longer one is malformed: a part of it is another value. */
export const valueCharsMax = 1_024;

/** The text, or its beginning with `…` where it is longer. No surrogate pair is split, and the whole text is not retained. */
export function cutText(text: string, charsMax: number = textCharsMax): string {
  if (text.length <= charsMax) return text;
  const end = isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  // A part of a string refers to the whole string in memory; joined characters are a string of their own.
  return Array.from({ length: end }, (_, index) => text.charAt(index)).join('') + cutMark;
}

const cutMark = '…';

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * Number of items of a list inside one object that are used. Real objects have less than a tenth of each: a node some ten
 * taints and conditions and a hundred labels, a pod some ten tolerations. The API server limits only their bytes (1.5
 * MiB), which is 50,000 of them, and some are compared with all of another object (decision 0018).
 */
export const listLimits = {
  taints: 2_000,
  tolerations: 2_000,
  conditions: 1_000,
  addresses: 100,
  labels: 2_000,
} as const;

/** Items of a name that the controller itself reads or writes are used at any place of a longer list, up to this number. */
export const namedBeyondMax = 256;

/** The first items of a list, and of those beyond the limit the ones that are named. The same list if it is within the limit. */
export function limitList<T>(items: readonly T[], max: number, isNamed: (item: T) => boolean): readonly T[] {
  if (items.length <= max) return items;
  return [...items.slice(0, max), ...items.slice(max).filter(isNamed).slice(0, namedBeyondMax)];
}
