// The pages, headings, flags and metrics that documents name exist.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { test } from 'node:test';
import { commandList } from '../../src/cli/commands/command-list.ts';
import { removedControllerFlags } from '../../src/cli/controller/flags.ts';
import { kubernetesVersions } from '../../tools/control-plane/kubernetes-version.ts';
import { controlPlaneBuild } from '../../tools/control-plane/programs.ts';

const root = join(import.meta.dirname, '..', '..');
const documents = globSync('{*.md,docs/**/*.md,charts/**/*.md,manifests/**/*.md,test/**/*.md,tools/**/*.md}', {
  cwd: root,
});
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const fence = /^ *```[^\n]*\n[\s\S]*?^ *```$/gmu;
const prose = (text: string): string => text.replaceAll(fence, '');
const blocks = (text: string): readonly string[] => [...text.matchAll(fence)].map(([block]) => block);

/** The anchor of a heading on GitHub. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\-_ ]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(path: string): readonly string[] {
  return [...prose(read(path)).matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) => anchorOf(heading));
}

test('links between documents lead to files and headings that exist', () => {
  assert.ok(documents.length > 40);
  for (const path of documents) {
    for (const [, target = ''] of prose(read(path)).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/gu)) {
      const [file = '', anchor] = target.split('#');
      const at = file === '' ? path : normalize(join(path, '..', file));
      assert.ok(existsSync(join(root, at)), `${path} links to ${target}`);
      if (anchor !== undefined)
        assert.ok(anchorsOf(at).includes(anchor), `${path} links to ${target}: no such heading`);
    }
  }
});

test('the tests that failure-modes.md names exist', () => {
  const rows = read('docs/failure-modes.md')
    .split('\n')
    .filter((line) => /^\| (?!---)/u.test(line));
  const proofs = rows.map((row) => row.split('|').at(-2) ?? '').filter((cell) => cell.trim() !== 'proven by');
  assert.ok(proofs.length > 30);
  for (const proof of proofs) {
    const named = [...proof.matchAll(/`([a-z0-9-]+\/[a-z0-9/.-]+)`/gu)].map(([, name = '']) => name);
    assert.ok(named.length > 0, `no test is named: ${proof}`);
    for (const name of named) {
      const isThere = ['', '.long'].some((kind) => existsSync(join(root, 'test', `${name}${kind}.test.ts`)));
      assert.ok(isThere, `test/${name} does not exist`);
    }
  }
});

test('version-skew.md names the versions that chart, control plane under test and Node.js have', () => {
  const text = read('docs/version-skew.md');
  const [, leastKubernetes] =
    /^kubeVersion: '>=(\d+\.\d+)\.0-0'$/mu.exec(read('charts/node-lifecycle-controller/Chart.yaml')) ?? [];
  const builds = kubernetesVersions.map((version) => controlPlaneBuild(version));
  const row = (name: string, cells: readonly string[]): string => `| ${name} | ${cells.join(' | ')} |`;
  const releases = builds.map(({ gitVersion }) => gitVersion.slice(1));
  const { engines } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const { version } = JSON.parse(read('tools/node-runtime/package.json')) as Record<string, string>;
  const least = engines?.['node']?.replace('>=', '');
  const sentences = [
    `The chart requires Kubernetes ${leastKubernetes} or later`,
    row('Kubernetes', releases),
    row(
      'etcd',
      builds.map(({ etcdVersion }) => etcdVersion),
    ),
    `kubelet of ${releases.at(-1)}`,
    `${least} or later (\`engines\`)`,
    `\`npm ci\` installs ${version}`,
  ];
  for (const sentence of sentences) assert.ok(text.includes(sentence), sentence);
});

test('no inline code spans two lines, where these tests would not find it', () => {
  for (const path of documents) {
    const lines = prose(read(path)).split('\n');
    const torn = lines.filter((line) => line.split('`').length % 2 === 0 && !/``/u.test(line));
    assert.deepEqual(torn, [], path);
  }
});

/** Flags of other programs in documents. */
const otherFlags: Readonly<Record<string, string>> = {
  'event-ttl': 'kube-apiserver',
  'service-account-extend-token-expiration': 'kube-apiserver',
  'disable-cloud-controller': 'k3s',
  'max-semi-space-size': 'Node.js',
  'max-old-space-size': 'Node.js',
  'max-old-space-size-percentage': 'Node.js',
  optional: 'npm run control-plane',
  'only-build': 'npm run test:cluster',
  kubernetes: 'npm run test:control-plane',
  load: 'npm run test:control-plane',
  suite: 'npm run test:upstream',
  explain: 'npm run test:upstream',
  values: 'helm',
  story: 'npm run test:cluster',
  rounds: 'npm run test:cluster',
  beside: 'npm run test:cluster',
  clusters: 'npm run test:cluster',
  keep: 'npm run test:cluster',
  prefix: 'npm run test:cluster',
  'without-tests': 'npm run check',
  'use-service-account-credentials': 'kube-controller-manager',
  // A placeholder.
  flag: 'nlc',
};

const flagsOf = new Map<string, ReadonlySet<string>>();
for (const entry of commandList) {
  flagsOf.set(entry.name, new Set([...(await entry.loadFlags()).map(({ name }) => name), 'help', 'h']));
}
const nlcFlags = new Set([...flagsOf.values()].flatMap((names) => [...names]));

function flagsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<=^|[\s`"'(=])--([a-z][a-z0-9-]*)/gmu)].map(([, name = '']) => name);
}

function isKnownFlag(name: string): boolean {
  return nlcFlags.has(name) || name in removedControllerFlags || name in otherFlags;
}

test('flags that documents name exist', () => {
  let found = 0;
  for (const path of documents) {
    for (const [, span = ''] of prose(read(path)).matchAll(/`([^`\n]+)`/gu)) {
      // Command lines of other programs are skipped.
      if (!/^(?:nlc |--)/u.test(span)) continue;
      for (const name of flagsIn(span)) {
        found += 1;
        assert.ok(isKnownFlag(name), `${path} names --${name}`);
      }
    }
  }
  assert.ok(found > 100);
});

test('the command lines of nlc in documents have flags of their commands', () => {
  let found = 0;
  for (const path of documents) {
    const lines = blocks(read(path)).flatMap((block) => block.replaceAll(/\\\n/gu, ' ').split('\n'));
    for (const line of lines) {
      const [, command = '', given = ''] = /\bnlc(?:\.js)?(?: --)? ([a-z-]+)\b([^#|]*)/u.exec(line) ?? [];
      const flags = flagsOf.get(command);
      for (const name of flags === undefined ? [] : flagsIn(given)) {
        found += 1;
        assert.ok(flags?.has(name), `${path}: nlc ${command} has no --${name}`);
      }
    }
  }
  assert.ok(found > 5);
});

const families =
  /\b(?:node_lifecycle|node_collector|taint_eviction_controller|pod_gc_collector|reflector|informer|workqueue|rest_client|leader_election|watch_canary|hollow_nodes|apiserver_delegated|secure_serving|nodejs|process|hollow_kubelet)_[a-z0-9_]+/gu;

/** Names in the same families that are no metrics. */
const otherNames: ReadonlySet<string> = new Set([
  // Names of work queues.
  'node_lifecycle_controller',
  'node_lifecycle_controller_recovery',
  'node_lifecycle_controller_housekeeping',
  'node_lifecycle_controller_pods',
]);

function partsOf(name: string, kind: string): readonly string[] {
  return kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [];
}

/** The table of renamed things in the changelog has old names in its second column. */
function withoutOldNames(text: string): string {
  return text.replaceAll(/^(\| [^|]+ \|) `[^`|]+` (\| `[^`|]+` \|)$/gmu, '$1$2');
}

test('metrics that documents name exist', () => {
  // That page is made from the definitions.
  const rows = [...read('docs/metrics.md').matchAll(/^\| `(\w+)` \| (\w+) \|/gmu)];
  assert.ok(rows.length > 50);
  const names = new Set(rows.flatMap(([, name = '', kind = '']) => [name, ...partsOf(name, kind)]));
  const isKnown = (name: string): boolean => {
    const isFamily = name.endsWith('_') && [...names].some((known) => known.startsWith(name));
    return isFamily || names.has(name) || otherNames.has(name);
  };
  let found = 0;
  for (const path of documents) {
    for (const [name] of withoutOldNames(read(path)).matchAll(families)) {
      found += 1;
      assert.ok(isKnown(name), `${path} names ${name}`);
    }
  }
  assert.ok(found > 50);
});
