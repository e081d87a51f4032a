// Who may reach into a running fleet: on the loopback everybody who is on this machine, elsewhere who knows the token.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, textAnswer } from '../../adapters/observability-server.ts';
import type { ListenAddress } from '../bind-address.ts';

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

export function isLoopback({ host }: Pick<ListenAddress, 'host'>): boolean {
  return loopbackHost.test(host);
}

/**
 * The guard of the control pages. With a token it has to be shown. Without one the request must be meant for a loopback
 * name: a page in a browser can make its own name lead here, but not that one.
 */
export function guardControl(token: string | undefined): (headers: IncomingHttpHeaders) => Answer | undefined {
  if (token === undefined) {
    return ({ host = '' }) =>
      loopbackHost.test(host.replace(/:\d+$/, '')) ? undefined : textAnswer(403, 'host: accepted: a loopback name\n');
  }
  const wanted = digest(`Bearer ${token}`);
  return ({ authorization = '' }) =>
    timingSafeEqual(digest(authorization), wanted) ? undefined : textAnswer(401, 'the token is missing or wrong\n');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
