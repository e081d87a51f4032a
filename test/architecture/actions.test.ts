// A controller has no actions: nothing that its command loads can reach them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const anyImport = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.{1,2}\/[^']+\.ts)'/gu;

/** What is loaded with a file: no types, and nothing that is imported on first use. */
const imported = /^(?:import|export) (?!type )(?:[^;']*? from )?'(\.{1,2}\/[^']+\.ts)'/gmu;

/** The files that this one loads, directly or not; by default dynamic imports included. */
function reachedFrom(entry: string, imports = anyImport): ReadonlySet<string> {
  const reached = new Set<string>();
  const missing = [join(root, entry)];
  for (let path = missing.pop(); path !== undefined; path = missing.pop()) {
    // A page may contain the text of an import.
    if (reached.has(path) || !existsSync(path)) continue;
    reached.add(path);
    const folder = dirname(path);
    for (const [, relativePath = ''] of readFileSync(path, 'utf8').matchAll(imports))
      missing.push(join(folder, relativePath));
  }
  return new Set([...reached].map((path) => relative(root, path)));
}

/** Each of these rooms has files that act, or that are a cluster without machines. */
const simulated = ['src/cli/simulation/', 'src/hollow-cluster/', 'src/simulator/'] as const;

test('the command controller reaches no action, no hollow cluster and no simulator', () => {
  const reached = reachedFrom('src/cli/commands/controller.ts');
  assert.ok(reached.has('src/cli/dashboard/dashboard-routes.ts') && reached.size > 200);
  for (const room of simulated)
    assert.deepEqual(
      [...reached].filter((path) => path.startsWith(room)),
      [],
    );
});

test('demo and simulate reach them, so that the search finds what it is for', () => {
  const reached = new Set(['demo', 'simulate'].flatMap((name) => [...reachedFrom(`src/cli/commands/${name}.ts`)]));
  for (const room of simulated)
    assert.ok(
      [...reached].some((path) => path.startsWith(room)),
      room,
    );
  assert.ok(
    reached.has('src/cli/simulation/actions/actions.ts') &&
      reached.has('src/hollow-cluster/kubelet/faults/fault-injector.ts'),
  );
});

test('whatif without a trace loads no simulator and no hollow cluster', () => {
  const loaded = reachedFrom('src/cli/commands/whatif.ts', imported);
  assert.ok(loaded.has('src/cli/whatif/cluster-preview.ts'));
  const found = [...loaded].filter((path) => simulated.some((room) => path.startsWith(room)));
  assert.deepEqual(found, []);
  assert.ok(reachedFrom('src/cli/whatif/replay-both.ts', imported).has('src/simulator/scenario/run-scenario.ts'));
});

test('commands that print a page load no client of the API server, and completion no WebSockets: both start in a moment', () => {
  const page = [...reachedFrom('src/cli/commands/page-commands.ts', imported)];
  assert.ok(page.includes('src/cli/client/server-pages.ts'));
  assert.deepEqual(
    page.filter((path) => /kube-client\/(?:pools|transport)|kubeconfig\/connection\.ts|machinery\/yaml/u.test(path)),
    [],
  );
  const completion = reachedFrom('src/cli/commands/complete.ts', imported);
  assert.ok(completion.has('src/machinery/kube-client/pools.ts'));
  assert.ok(!completion.has('src/machinery/kube-client/port-forward.ts'));
});
