/** FNV-1a over the text's UTF-16 units; two of them with different seeds make collisions of ETags unlikely enough. */
function fnv1a(text: string, seed: number): number {
  let hash = seed >>> 0;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93) >>> 0;
  }
  return hash;
}

/**
 * Sixteen hexadecimal digits that change with the text: the opaque part of an ETag, and the `hash` in the addresses of
 * OpenAPI documents. Not for security.
 */
export function contentHash(text: string): string {
  return [0x81_1c_9d_c5, 0x0b_ad_ca_fe].map((seed) => fnv1a(text, seed).toString(16).padStart(8, '0')).join('');
}
