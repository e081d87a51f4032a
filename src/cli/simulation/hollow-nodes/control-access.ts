// Access to the control pages of a running fleet: on loopback without a token, on other addresses with a bearer token.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, textAnswer } from '../../../machinery/page-server/observability-server.ts';

/** Rejects requests to the control pages that do not send this token. */
export function requireToken(token: string): (headers: IncomingHttpHeaders) => Answer | undefined {
  const wanted = digest(`Bearer ${token}`);
  return ({ authorization = '' }) =>
    timingSafeEqual(digest(authorization), wanted) ? undefined : textAnswer(401, 'invalid or missing bearer token\n');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
