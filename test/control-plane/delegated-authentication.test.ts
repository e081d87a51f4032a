// The secure ports of kube-scheduler and kube-controller-manager, which ask the embedded API server who sends a request and
// whether that user may.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Agent, request } from 'undici';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { type RunningApiServer, startApiServer } from '../../src/hollow-cluster/apiserver/http/api-server.ts';
import { type ControlPlaneBinaries, findControlPlane } from '../../tools/control-plane/binaries.ts';
import { SeededRandom, silentLogger } from '../support/fakes.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { RestClient } from './rest-client.ts';
import { waitUntil } from './wait-until.ts';

const programs = [
  { name: 'kube-scheduler', binary: 'kubeScheduler', flags: [] },
  {
    name: 'kube-controller-manager',
    binary: 'kubeControllerManager',
    flags: ['--controllers=serviceaccount-controller'],
  },
] as const satisfies readonly { name: string; binary: keyof ControlPlaneBinaries; flags: readonly string[] }[];

const reader = { token: 'reader-token', user: 'reader', groups: [] };
const other = { token: 'other-token', user: 'other', groups: [] };

describe('delegated authentication and authorization by the embedded API server', { timeout: 120_000 }, () => {
  const folder = tempFolder();
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  let server: RunningApiServer;

  before(async () => {
    const users = [reader, other, ...programs.map(({ name }) => ({ token: name, user: `system:${name}`, groups: [] }))];
    const options = { clock: new SystemClock(), random: new SeededRandom(1), logger: silentLogger };
    server = await startApiServer({ ...options, authorizationMode: 'RBAC', users });
    const client = new RestClient({ url: server.url, ca: server.caPem ?? '', token: server.adminToken });
    await client.must('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:monitoring' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: reader.user }],
    });
    await client.close();
  });

  after(async () => {
    await agent.destroy();
    await server?.close();
  });

  for (const { name, binary, flags } of programs) {
    it(`${name} answers a user with a role, refuses others, and reads its configuration`, async () => {
      const found = findControlPlane();
      if ('missing' in found) throw new Error(found.missing);
      const [port] = await freePorts(1);
      const { child, log } = start(found[binary], name, [`--secure-port=${port}`, ...flags]);
      const codeOf = async (path: string, token?: string): Promise<number> => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const answer = await request(`https://127.0.0.1:${port}${path}`, { dispatcher: agent, headers });
        await answer.body.dump();
        return answer.statusCode;
      };
      try {
        await waitUntil(`${name} is healthy`, { timeoutMs: 60_000 }, async () => {
          assert.equal(child.exitCode, null, log());
          return (await codeOf('/healthz').catch(() => 0)) === 200;
        });
        assert.equal(await codeOf('/metrics', reader.token), 200);
        assert.equal(await codeOf('/metrics', other.token), 403);
        assert.equal(await codeOf('/metrics', 'unknown'), 401);
        assert.equal(await codeOf('/metrics'), 403, 'anonymous');
        const problems = log()
          .split('\n')
          .filter((line) => /^[EW].*(extension-apiserver-authentication|requestheader|client-ca)/.test(line));
        assert.deepEqual(problems, []);
      } finally {
        await stop(child);
      }
    });
  }

  function start(
    file: string,
    name: string,
    flags: readonly string[],
  ): { readonly child: ChildProcess; readonly log: () => string } {
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, server.kubeconfig().replaceAll(server.adminToken, name));
    const access = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
    const common = ['--bind-address=127.0.0.1', `--cert-dir=${join(folder, name)}`, '--leader-elect=false'];
    const child = spawn(file, [...access.map((flag) => `--${flag}=${kubeconfig}`), ...common, ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part));
    return { child, log: () => text };
  }

  async function stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
  }
});
