/** Sends the rows of the table to a server, and makes their answers comparable. */
import { type ApiResponse, aPod, type Client, type Json } from '../client.ts';
import type { RecordedAnswer, RequestRow } from './request-row.ts';
import { accessRows } from './rows-access.ts';
import { bodyRows } from './rows-bodies.ts';
import { optionRows } from './rows-options.ts';
import { patchRows } from './rows-patches.ts';

export const requestRows: readonly RequestRow[] = [...bodyRows, ...optionRows, ...patchRows, ...accessRows];

/** Names of the objects that the rows are about. */
interface Fixture {
  readonly namespace: string;
  readonly node: string;
}

export async function makeFixture(client: Client): Promise<Fixture> {
  const namespace = await client.namespace();
  const within = `/api/v1/namespaces/${namespace}`;
  const { metadata } = await client.node();
  await client.make(`${within}/configmaps`, { metadata: { name: 'c' }, data: { a: '1' } });
  await client.make(`${within}/serviceaccounts`, { metadata: { name: 'sa' } });
  await client.make(`${within}/pods`, aPod('p'));
  await client.make(`${within}/pods`, aPod('bound', { spec: { nodeName: metadata.name } }));
  await client.make(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, { metadata: { name: 'l' } });
  await client.make(`/apis/apps/v1/namespaces/${namespace}/deployments`, aDeployment);
  return { namespace, node: metadata.name };
}

const labels = { app: 'd' };
const aDeployment = {
  metadata: { name: 'd' },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

export async function answerOf(client: Client, fixture: Fixture, row: RequestRow): Promise<RecordedAnswer> {
  const fill = (text: string): string => text.replaceAll('$NS', fixture.namespace).replaceAll('$NODE', fixture.node);
  const { method = 'GET', path, body, type, accept, headers } = row;
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await client.send(method, fill(path), {
    ...(sent === undefined ? {} : { body: fill(sent) }),
    ...(type === undefined ? {} : { type }),
    ...(accept === undefined ? {} : { accept }),
    ...(headers === undefined ? {} : { headers }),
  });
  return JSON.parse(withoutNames(JSON.stringify(recorded(response, row)), fixture));
}

function recorded({ code, headers, body, text }: ApiResponse, { shows }: RequestRow): RecordedAnswer {
  const given = headers['warning'] ?? [];
  const warnings = typeof given === 'string' ? [given] : given;
  const warned = warnings.length === 0 ? {} : { warnings };
  const shown = shows === undefined ? {} : { shown: Object.fromEntries(shows.map((field) => [field, body?.[field]])) };
  if (code < 300) return { code, ...warned, ...shown };
  if (body?.kind !== 'Status') return { code, ...warned, text };
  const { reason, message, details }: Json = body;
  // Of a request that cannot be read, the message of kube-apiserver is that of Go's decoders.
  if (code === 400) return { code, reason, ...warned };
  return { code, reason, message, details, ...warned };
}

const uid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Without what differs between two runs. */
function withoutNames(text: string, { namespace, node }: Fixture): string {
  return (
    text
      .replaceAll(namespace, '$NS')
      .replaceAll(node, '$NODE')
      // The library that prints the differences of two objects indents with one of them, selected when kube-apiserver starts.
      .replaceAll('\u00a0', ' ')
      .replace(uid, '$UID')
      .replace(/in record \(\d+\)/g, 'in record ($VERSION)')
      .replace(/(\\+"resourceVersion\\+":\\+")\d+/g, '$1$$VERSION')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '$TIME')
  );
}
