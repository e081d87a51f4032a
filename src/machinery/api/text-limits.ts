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
