/** FNV-1a over the UTF-16 units of the text; two of them with different seeds make ETag collisions unlikely enough. */
function fnv1a(text: string, seed: number): number {
  let hash = seed >>> 0;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93) >>> 0;
  }
  return hash;
}

/** The JSON text of a document, and a hash of it. */
export interface EncodedDocument {
  readonly text: string;
  /** Changes with the text; the document's ETag without the quotes. */
  readonly hash: string;
}

export function encodeDocument(document: Readonly<Record<string, unknown>>): EncodedDocument {
  const text = JSON.stringify(document);
  return { text, hash: contentHash(text) };
}

/**
 * Sixteen hexadecimal digits that depend on the text: the opaque part of an ETag, and the `hash` in the URLs of OpenAPI
 * documents. Not for security.
 */
export function contentHash(text: string): string {
  return [0x81_1c_9d_c5, 0x0b_ad_ca_fe].map((seed) => fnv1a(text, seed).toString(16).padStart(8, '0')).join('');
}
