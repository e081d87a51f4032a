import { parsePattern, type TextPattern } from '../../../hollow-cluster/kubelet/parse-pattern.ts';

/** The accepted values of `--unpullable-images`: the characters of image names, with `*` and `?`. */
export const imagePatternsPattern = /^[\w./:@+*?-]+(?:,[\w./:@+*?-]+)*$/;

/** Parses comma-separated patterns of images. */
export function parseImagePatterns(text: string | undefined): readonly TextPattern[] {
  return (text ?? '').split(',').flatMap((part) => (part === '' ? [] : [parsePattern(part)]));
}
