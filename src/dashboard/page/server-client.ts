// Requests to the server, besides the event stream. Addresses are relative to this page, which may be behind a proxy.
import { describeProblem, parseProblem } from '../stream/describe-problem.ts';

export const eventsUrl = new URL('dashboard/events', document.baseURI);

/** The page of a node, in both formats; failures are described for the user. */
export async function fetchNode(name: string): Promise<{ readonly json: string; readonly text: string }> {
  const url = new URL(`explain/nodes/${encodeURIComponent(name)}`, document.baseURI);
  const textUrl = new URL(url);
  textUrl.searchParams.set('output', 'text');
  const [json, text] = await Promise.all([request(url), request(textUrl)]);
  return { json, text };
}

/** Resolves to the text of the answer. */
export async function postAction(action: unknown): Promise<string> {
  const body = await request(new URL('dashboard/actions', document.baseURI), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(action),
  });
  const { text }: { readonly text: string } = JSON.parse(body);
  return text;
}

async function request(url: URL, init: RequestInit = {}): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, { cache: 'no-store', ...init });
  } catch {
    throw new Error(describeProblem({ status: 0, message: '' }));
  }
  const body = await response.text();
  if (!response.ok) throw new Error(describeProblem(parseProblem(response.status, body)));
  return body;
}
