import { listOf, mapOf } from '../../machinery/api/json-map.ts';

/**
 * The audiences that a token claims, without verification: they select the audience of the review, and the API server
 * verifies token and audience. Empty for a token that is no JWT.
 */
export function parseTokenAudiences(token: string): readonly string[] {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return [];
  const { aud } = mapOf(parsed(Buffer.from(payload, 'base64url').toString('utf8')));
  const audiences: readonly unknown[] = typeof aud === 'string' ? [aud] : listOf(aud);
  return audiences.filter((audience) => typeof audience === 'string');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not a JWT
  }
}
