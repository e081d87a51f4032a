// The routes of the dashboard: the page, its scripts and styles, and the events. All are read-only, and the answers name no other
// origin: nothing is loaded from elsewhere.
import { type Answer, type Route, textAnswer } from '../../machinery/page-server/observability-server.ts';
import type { DashboardSource } from '../../dashboard/server/dashboard-source.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import { EventStreams, eventStreamType } from './event-streams.ts';
import type { DashboardAsset } from './source-assets.ts';

interface DashboardRoutesOptions extends Ambient {
  readonly source: DashboardSource;
  /** The file below `/dashboard/assets/`; the page itself for the empty path; undefined: there is none. */
  readonly asset: (path: string) => Promise<DashboardAsset | undefined>;
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every response below `/dashboard`. */
const headers = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const assetsPath = '/dashboard/assets/';
const notFound = textAnswer(404, 'not found\n');

/** `/dashboard`, `/dashboard/assets/...` and `/dashboard/events`. */
export function dashboardRoutes(options: DashboardRoutesOptions): readonly Route[] {
  const streams = new EventStreams(options);
  const { asset } = options;
  return [
    { path: '/dashboard', headers, answer: () => assetAnswer(asset, '') },
    { path: '/dashboard/', headers, answer: ({ pathname }) => (pathname === '/dashboard/' ? toPage : notFound) },
    { path: assetsPath, headers, answer: ({ pathname }) => assetAnswer(asset, pathname.slice(assetsPath.length)) },
    {
      path: '/dashboard/events',
      headers,
      answer: () => ({ status: 200, contentType: eventStreamType, body: '' }),
      stream: () => streams.answer(),
    },
  ];
}

/** The page is at `/dashboard`: the addresses in it are relative, so that a proxy may serve it below another path. */
const toPage: Answer = { ...textAnswer(302, 'see /dashboard\n'), headers: { location: '../dashboard' } };

async function assetAnswer(asset: DashboardRoutesOptions['asset'], path: string): Promise<Answer> {
  const found = await asset(path);
  return found === undefined ? notFound : { status: 200, ...found };
}
