import type { RestClient } from '../../control-plane/rest-client.ts';

/** The API server's count of accepted requests with these labels. */
export async function acceptedWrites(client: RestClient, labels: RegExp): Promise<number> {
  const { text } = await client.must<{ readonly text: string }>('GET', '/metrics');
  return text
    .split('\n')
    .filter((line) => /^apiserver_request_total\{.*code="2\d\d"/u.test(line) && labels.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
