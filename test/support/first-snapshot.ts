import type { Snapshot } from '../../src/dashboard/protocol.ts';

/** The first snapshot of the event stream of a dashboard. `url`: without its path. */
export async function firstSnapshot(url: string): Promise<Snapshot> {
  const gone = new AbortController();
  const response = await fetch(`${url}/dashboard/events`, {
    signal: AbortSignal.any([gone.signal, AbortSignal.timeout(20_000)]),
  });
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const event = text
        .split('\n\n')
        .slice(0, -1)
        .find((each) => each.startsWith('event: snapshot\n'));
      if (event !== undefined) return parseData(event);
    }
  } finally {
    gone.abort();
  }
  throw new Error(`no snapshot: ${text}`);
}

function parseData(event: string): Snapshot {
  const lines = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
  return JSON.parse(lines.join('\n')) as Snapshot;
}
