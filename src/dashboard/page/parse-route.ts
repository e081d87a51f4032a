import { isNodeState } from '../describe-state.ts';
import type { NodeState } from '../protocol.ts';

/** Which nodes are shown. Empty lists and texts filter nothing. */
export interface NodeFilter {
  readonly zone: string | null;
  /** `''`: nodes without a policy. */
  readonly policy: string | null;
  readonly states: readonly NodeState[];
  /** A part of the name. */
  readonly name: string;
}

export interface TimelineFilter {
  readonly kind: string | null;
  readonly text: string;
  readonly warnings: boolean;
}

const sortKeys = ['name', 'zone', 'policy', 'state', 'since', 'pods', 'held', 'next'] as const;
export type SortKey = (typeof sortKeys)[number];

const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** The state of the page that its address has: a link to it shows the same again. */
export interface Route {
  /** Null: the overview. */
  readonly node: string | null;
  readonly filter: NodeFilter;
  readonly view: 'grid' | 'table';
  readonly sort: SortKey;
  readonly descending: boolean;
  /** Number of the page, from 1. */
  readonly page: number;
  readonly timeline: TimelineFilter;
  readonly theme: Theme;
  /** The section that is scrolled to. */
  readonly section: string | null;
}

/** The route of a hash, such as `#/nodes/worker-1?theme=light`. What is unknown or malformed has its default. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#/u, ''), '?');
  const given = new URLSearchParams(query);
  return {
    node: parseNode(path),
    filter: parseFilter(given),
    view: given.get('view') === 'table' ? 'table' : 'grid',
    sort: sortKeys.find((key) => key === given.get('sort')) ?? 'name',
    descending: given.get('desc') === '1',
    page: parsePage(given.get('page')),
    timeline: {
      kind: given.get('tkind'),
      text: given.get('ttext') ?? '',
      warnings: given.get('twarn') === '1',
    },
    theme: themes.find((theme) => theme === given.get('theme')) ?? 'auto',
    section: given.get('section'),
  };
}

function parseFilter(given: URLSearchParams): NodeFilter {
  return {
    zone: given.get('zone'),
    policy: given.get('policy'),
    states: (given.get('state') ?? '').split(',').filter(isNodeState),
    name: given.get('name') ?? '',
  };
}

function parseNode(path: string): string | null {
  const [, encoded = ''] = /^\/nodes\/([^/]+)$/u.exec(path) ?? [];
  if (encoded === '') return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function parsePage(text: string | null): number {
  const page = Number(text ?? '1');
  return Number.isSafeInteger(page) && page >= 1 ? page : 1;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
