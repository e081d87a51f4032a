// Access to the control pages of a running fleet: on loopback without a token, on other addresses with a bearer token.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, textAnswer } from '../../adapters/page-server/observability-server.ts';
import type { ListenAddress } from '../flags/bind-address.ts';

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

export function isLoopback({ host }: Pick<ListenAddress, 'host'>): boolean {
  return loopbackHost.test(host);
}

/**
 * Checks access to the control pages. With a token, requests must send it. Without one, the Host header must be a loopback
 * name, against DNS rebinding from a browser.
 */
export function guardControl(token: string | undefined): (headers: IncomingHttpHeaders) => Answer | undefined {
  if (token === undefined) {
    return ({ host = '' }) =>
      loopbackHost.test(host.replace(/:\d+$/, '')) ? undefined : textAnswer(403, 'host: must be a loopback name\n');
  }
  const wanted = digest(`Bearer ${token}`);
  return ({ authorization = '' }) =>
    timingSafeEqual(digest(authorization), wanted) ? undefined : textAnswer(401, 'invalid or missing bearer token\n');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
