import { type ImagePattern, parseImagePattern } from '../../kubelet/runtime/select-unpullable.ts';

/** The accepted values of `--unpullable-images`: the characters of image names, with `*` and `?`. */
export const imagePatternsPattern = /^[\w./:@+*?-]+(?:,[\w./:@+*?-]+)*$/;

/** Parses comma-separated patterns of images. */
export function parseImagePatterns(text: string | undefined): readonly ImagePattern[] {
  return (text ?? '').split(',').flatMap((part) => (part === '' ? [] : [parseImagePattern(part)]));
}
