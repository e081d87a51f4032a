import { parsePattern } from '../parse-pattern.ts';

/** A pattern of images, in which `*` is any text and `?` one character. */
export interface ImagePattern {
  readonly text: string;
  readonly expression: RegExp;
}

export function parseImagePattern(text: string): ImagePattern {
  return { text, expression: parsePattern(text) };
}

/**
 * Why an image cannot be pulled; undefined if it can. An image without a tag and a digest has the tag `latest`, as in a
 * registry.
 */
export function selectPullFailure(image: string, unpullable: readonly ImagePattern[]): string | undefined {
  if (unpullable.length === 0) return undefined;
  const name = image.slice(image.lastIndexOf('/') + 1);
  const tagged = /[:@]/u.test(name) ? image : `${image}:latest`;
  const found = unpullable.find(({ expression }) => expression.test(image) || expression.test(tagged));
  return (
    found && `not found: the image matches the pattern ${JSON.stringify(found.text)} of images that cannot be pulled`
  );
}
