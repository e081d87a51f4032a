import type { WantedPage } from './controller-client.ts';

/** The page of `node/NAME` or `pod/NAMESPACE/NAME`; the kind in singular, plural or kubectl's short form. Undefined for anything else. */
export function selectSubjectPage(subject: string | undefined): WantedPage | undefined {
  const [kind = '', ...names] = (subject ?? '').split('/');
  if (names.includes('')) return undefined;
  const encoded = names.map(encodeURIComponent).join('/');
  if (['node', 'nodes', 'no'].includes(kind) && names.length === 1)
    return { command: 'explain', path: `/explain/nodes/${encoded}`, wide: ['/explain/zones'] };
  if (['pod', 'pods', 'po'].includes(kind) && names.length === 2)
    return { command: 'explain', path: `/explain/pods/${encoded}`, wide: ['/status'] };
  return undefined;
}

export function describeSubjectProblem(subject: string | undefined): string {
  const got = subject === undefined ? 'got none' : `got ${JSON.stringify(subject)}`;
  return `object: must be node/NAME or pod/NAMESPACE/NAME (${got})`;
}
