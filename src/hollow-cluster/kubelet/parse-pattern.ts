/** A pattern of whole texts, in which `*` is any text and `?` one character. */
export interface TextPattern {
  readonly text: string;
  /** Takes at most the product of both lengths: texts may come from users of the cluster. */
  matches(text: string): boolean;
}

export function parsePattern(text: string): TextPattern {
  const pattern = Array.from(text);
  return { text, matches: (candidate) => isMatch(pattern, Array.from(candidate)) };
}

/**
 * True if the text matches. The text of the last star grows by one character where the rest does not match; earlier stars
 * need not change.
 */
function isMatch(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  let afterStar: number | undefined;
  let afterStarText = 0;
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === '*') {
      at += 1;
      afterStar = at;
      afterStarText = index;
    } else if (pattern[at] === '?' || pattern[at] === text[index]) {
      at += 1;
      index += 1;
    } else if (afterStar !== undefined) {
      at = afterStar;
      afterStarText += 1;
      index = afterStarText;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((character) => character === '*');
}
