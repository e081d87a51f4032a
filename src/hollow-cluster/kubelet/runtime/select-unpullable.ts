import type { TextPattern } from '../parse-pattern.ts';

/**
 * Why an image cannot be pulled; undefined if it can. An image without a tag and a digest has the tag `latest`, as in a
 * registry.
 */
export function selectPullFailure(image: string, unpullable: readonly TextPattern[]): string | undefined {
  if (unpullable.length === 0) return undefined;
  const name = image.slice(image.lastIndexOf('/') + 1);
  const tagged = /[:@]/u.test(name) ? image : `${image}:latest`;
  const found = unpullable.find((pattern) => pattern.matches(image) || pattern.matches(tagged));
  return (
    found && `not found: the image matches the pattern ${JSON.stringify(found.text)} of images that cannot be pulled`
  );
}
