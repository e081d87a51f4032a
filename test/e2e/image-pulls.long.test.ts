// `nlc hollow-nodes --unpullable-images` against `nlc apiserver`, over HTTP: a pod waits for its image, and runs when the
// image is changed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

interface PodOnWire {
  readonly metadata: { readonly generation: number };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly observedGeneration?: number;
    }[];
    readonly containerStatuses?: readonly {
      readonly state: { readonly waiting?: { readonly reason: string; readonly message?: string } };
    }[];
  };
}

interface EventOnWire {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

type Send = (method: string, path: string, body?: unknown) => Promise<unknown>;

const pods = '/api/v1/namespaces/default/pods';

test('a pod whose image cannot be pulled waits until its image is changed', { timeout: 60_000 }, async (t) => {
  const kubeconfig = join(tempFolder(), 'kubeconfig');
  const flags = ['--tls=false', '--port=0', '--scheduler', `--kubeconfig-out=${kubeconfig}`];
  const server = new NlcProcess(['apiserver', ...flags]);
  t.after(() => server.kill());
  await until(() => (server.stdout.includes('press Ctrl-C') ? true : undefined));
  const send = senderTo(server, kubeconfig);
  const images = '--unpullable-images=web:404,registry.example/*';
  const nodes = new NlcProcess([
    'hollow-nodes',
    `--kubeconfig=${kubeconfig}`,
    '--nodes=1',
    '--pod-start-delay=50ms',
    images,
  ]);
  t.after(() => nodes.kill());
  const containers = [{ name: 'main', image: 'web:404' }];
  // No controller removes the taint of a new node.
  const tolerations = [{ operator: 'Exists' }];
  await send('POST', pods, { metadata: { name: 'web' }, spec: { containers, tolerations } });
  const waiting = await podThat(send, ({ status }) => waitingOf(status)?.reason === 'ErrImagePull');
  const message = 'not found: the image matches the pattern "web:404" of images that cannot be pulled';
  assert.equal(waitingOf(waiting.status)?.message, message);
  assert.equal(waiting.status.phase, 'Pending');
  assert.deepEqual(conditionsOf(waiting), [
    'ContainersReady False 1 ContainersNotReady',
    'Initialized True 1',
    'PodReadyToStartContainers True 1',
    'PodScheduled True 1',
    'Ready False 1 ContainersNotReady',
  ]);
  const lines = await until(async () => {
    const { items } = (await send('GET', '/api/v1/namespaces/default/events')) as {
      readonly items: readonly EventOnWire[];
    };
    const found = items.map((event) => `${event.type} ${event.reason} ${event.message}`);
    return found.some((line) => line.includes('BackOff')) ? found : undefined;
  });
  for (const line of [
    'Normal Pulling Pulling image "web:404"',
    `Warning Failed Failed to pull image "web:404": ${message}`,
    'Warning Failed Error: ErrImagePull',
    'Normal BackOff Back-off pulling image "web:404"',
  ])
    assert.ok(lines.includes(line), `${line} in ${lines.join('\n')}`);
  await podThat(send, ({ status }) => waitingOf(status)?.reason === 'ImagePullBackOff');
  await send('PATCH', `${pods}/web`, { spec: { containers: [{ name: 'main', image: 'web:200' }] } });
  const running = await podThat(send, ({ status }) => status.phase === 'Running');
  assert.deepEqual(conditionsOf(running), [
    'ContainersReady True 2',
    'Initialized True 2',
    'PodReadyToStartContainers True 2',
    'PodScheduled True 2',
    'Ready True 2',
  ]);
  assert.equal((await nodes.terminate()).code, 0);
  assert.equal((await server.terminate()).code, 0);
});

function waitingOf({
  containerStatuses = [],
}: PodOnWire['status']): { readonly reason: string; readonly message?: string } | undefined {
  return containerStatuses[0]?.state.waiting;
}

/** Type, status, generation and reason of each condition. */
function conditionsOf({ status }: PodOnWire): readonly string[] {
  const texts = (status.conditions ?? []).map(({ type, status, observedGeneration, reason }) =>
    [type, status, observedGeneration, reason].filter((part) => part !== undefined).join(' '),
  );
  return texts.toSorted();
}

function senderTo(server: NlcProcess, kubeconfig: string): Send {
  const url = /listening on (\S+),/.exec(server.stdout)?.[1] ?? '';
  const token = /token: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  return async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
    return response.json();
  };
}

/** The pod, once it is as wanted. */
async function podThat(send: Send, isWanted: (pod: PodOnWire) => boolean): Promise<PodOnWire> {
  return until(async () => {
    const pod = (await send('GET', `${pods}/web`)) as PodOnWire;
    return isWanted(pod) ? pod : undefined;
  });
}

async function until<T>(check: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
