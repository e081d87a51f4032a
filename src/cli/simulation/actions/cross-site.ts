import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, type RequestFilter, textAnswer } from '../../../machinery/page-server/observability-server.ts';

/**
 * Rejects requests that change something and that a page of another origin makes in a browser. Clients that are no browser
 * send neither header. Reads need no such check: a browser does not show their responses to other origins.
 */
export const rejectCrossSite: RequestFilter = (headers, { method }) => {
  if (method === 'GET' || method === 'HEAD') return undefined;
  return isOwnOrigin(headers) ? undefined : textAnswer(403, 'origin: must be the origin of this page\n');
};

function isOwnOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || URL.parse(origin)?.host === host.toLowerCase();
}

/** The first rejection of several filters. */
export function allOf(...filters: readonly RequestFilter[]): RequestFilter {
  return async (headers, info): Promise<Answer | undefined> => {
    for (const filter of filters) {
      const rejection = await filter(headers, info);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  };
}
