// Secure pages through a real kubelet, with the documented bindings and nothing else.
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedBlock } from '../documented-blocks.ts';
import { issueKubeconfig, issueServerCertificate, pkiFolder } from '../machine/certificates.ts';
import { inNamespace, runProgram } from '../machine/run-program.ts';
import { namespaceOf } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const namespace = 'node-lifecycle-controller';
const secretName = `${namespace}-tls`;
const serverName = `${namespace}-metrics.${namespace}.svc`;

/** What a user reads, and what it must say. */
const readings: readonly (readonly [command: string, says: RegExp])[] = [
  ['status', /leader/u],
  ['explain node/n3', /^node n3: Ready is True/u],
  ['explain pod/shop/db-0', /^pod shop\/db-0/u],
  ['top', /^ZONE .*^r\/b +normal/msu],
];

async function run(stage: Stage): Promise<Times> {
  const { settings } = stage.cluster;
  await installPrograms(stage);
  await makeSecret(stage);
  const ann = await issueKubeconfig(settings, 'ann', 'oncall');
  const eve = await issueKubeconfig(settings, 'eve', 'guests');
  return stage.withValues(['metrics.secure=true', `metrics.tls.secretName=${secretName}`], async () => {
    try {
      await bind(stage);
      await expectRejections(stage, eve);
      return {
        ...(await readAll(stage, ann)),
        dashboard: await readDashboard(stage, ann),
        token: await readWithToken(stage),
        verified: await readVerified(stage),
      };
    } finally {
      await unbind(stage);
    }
  });
}

/** The plugin by hand, as docs/kubectl.md says, and `nlc` for the operator's desk. */
async function installPrograms({ cluster }: Stage): Promise<void> {
  await runProgram(process.execPath, ['tools/bundle/build.ts'], { cwd: root });
  const [bin, program] = [join(cluster.settings.folder, 'bin'), join(root, 'dist/nlc.js')];
  const plugin = join(bin, 'kubectl-node_lifecycle');
  if (!existsSync(plugin)) symlinkSync(program, plugin);
  const [enter, words] = inNamespace(namespaceOf(cluster.settings, 'ops'), program, []);
  writeFileSync(join(bin, 'nlc'), `#!/bin/sh\nexec ${enter} ${words.join(' ')} "$@"\n`);
  chmodSync(join(bin, 'nlc'), 0o755);
}

async function makeSecret({ cluster }: Stage): Promise<void> {
  const { certificate, key, authority } = await issueServerCertificate(cluster.settings, 'pages', [serverName]);
  const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority };
  const from = Object.entries(files).map(([name, file]) => `--from-file=${name}=${file}`);
  await cluster.kubectl('delete', 'secret', secretName, '--namespace', namespace, '--ignore-not-found');
  await cluster.kubectl('create', 'secret', 'generic', secretName, '--namespace', namespace, ...from);
}

/** The bindings of the plugin's users and of the pages' readers, as the documents write them. */
async function bind(stage: Stage): Promise<void> {
  await unbind(stage);
  await stage.cluster.atDesk(documentedBlock('Permissions', 'kubectl create rolebinding', 'kubectl.md'), root);
  await stage.cluster.atDesk(documentedBlock('Who may read the pages', 'kubectl create clusterrolebinding'), root);
  await stage.cluster.kubectl('create', 'namespace', 'ops');
  await stage.cluster.kubectl('create', 'serviceaccount', 'oncall', '--namespace', 'ops');
  await stage.cluster.kubectl('create', 'serviceaccount', 'guest', '--namespace', 'ops');
}

async function unbind({ cluster }: Stage): Promise<void> {
  const gone = ['--ignore-not-found'];
  for (const place of [namespace, 'kube-system'])
    await cluster.kubectl('delete', 'rolebinding', 'oncall-nlc', '--namespace', place, ...gone);
  const bindings = ['prometheus-reads-node-lifecycle', 'oncall-reads-node-lifecycle'];
  await cluster.kubectl('delete', 'clusterrolebinding', ...bindings, ...gone);
  await cluster.kubectl('delete', 'role,rolebinding', 'oncall-forwards', '--namespace', namespace, ...gone);
  await cluster.kubectl('delete', 'namespace', 'ops', ...gone);
}

/** Without bindings, a user is refused, and learns what is missing. */
async function expectRejections({ cluster }: Stage, eve: string): Promise<void> {
  for (const command of ['status', 'top', 'dashboard']) {
    const { code, stderr } = await cluster.tryAtDesk(`kubectl node-lifecycle ${command} --kubeconfig=${eve}`, root);
    if (code === 0 || !/forbidden; needed: .*node-lifecycle-controller-kubectl/su.test(stderr))
      throw new Error(`${command} of a user without bindings ended with ${code}: ${stderr.slice(0, 500)}`);
  }
}

/** Seconds of each command, for a user of the plugin. */
async function readAll({ cluster }: Stage, ann: string): Promise<Times> {
  const times: Record<string, number> = {};
  for (const [command, says] of readings) {
    const startedMs = performance.now();
    const text = await cluster.atDesk(`kubectl node-lifecycle ${command} --kubeconfig=${ann}`, root);
    if (!says.test(text)) throw new Error(`${command} says: ${text.slice(0, 500)}`);
    times[command.split('/')[0] ?? command] = secondsSince(startedMs);
  }
  return times;
}

/** Reads the address that the plugin prints on the desk's loopback, as a browser would. */
async function readDashboard({ cluster }: Stage, ann: string): Promise<number> {
  const startedMs = performance.now();
  const printed = join(cluster.settings.folder, 'dashboard.txt');
  const script = 'process.stdout.write(await (await fetch(process.argv[1])).text())';
  const [enter, words] = inNamespace(namespaceOf(cluster.settings, 'ops'), process.execPath, []);
  const lines = [
    `kubectl node-lifecycle dashboard --kubeconfig=${ann} > ${printed} &`,
    "trap 'kill $!' EXIT",
    `for try in $(seq 200); do ! grep -q http ${printed} || break; sleep 0.1; done`,
    `${[enter, ...words].join(' ')} --input-type=module --eval '${script}' "$(grep -o 'http[^ ]*' ${printed} | head -1)"`,
  ];
  const page = await cluster.atDesk(lines.join('\n'), root);
  if (!/<html/u.test(page)) throw new Error(`the dashboard is: ${page.slice(0, 500)}`);
  return secondsSince(startedMs);
}

/** Through `kubectl port-forward`, by the token of a service account: with the binding it reads, without it learns why not. */
async function readWithToken({ cluster }: Stage): Promise<number> {
  const startedMs = performance.now();
  const folder = pkiFolder(cluster.settings);
  const block = `trap 'kill $!' EXIT\n${documentedBlock('Who may read the pages', 'kubectl exec')}`;
  const text = await cluster.atDesk(block, folder);
  if ((text.match(/leader/gu) ?? []).length < 2)
    throw new Error(`nlc status in the pod and at the desk says: ${text.slice(0, 1_000)}`);
  const seconds = secondsSince(startedMs);
  const { code, stderr } = await cluster.tryAtDesk(block.replace('token oncall', 'token guest'), folder);
  if (code === 0 || !/403/u.test(stderr))
    throw new Error(`a token without the binding: ${code} ${stderr.slice(0, 500)}`);
  return seconds;
}

/** As docs/kubectl.md says, for a user who may not request a token: its own is sent only to a server whose certificate is verified. */
async function readVerified({ cluster }: Stage): Promise<number> {
  const { folder } = cluster.settings;
  await cluster.apply(JSON.stringify(forwarding));
  const token = (await cluster.kubectl('create', 'token', 'oncall', '--namespace', 'ops')).trim();
  const kubeconfig = join(folder, 'oncall.conf');
  const { users, ...rest } = JSON.parse(readFileSync(join(folder, 'kubeconfig'), 'utf8')) as {
    readonly users: readonly [{ readonly name: string }];
  };
  writeFileSync(kubeconfig, JSON.stringify({ ...rest, users: [{ name: users[0].name, user: { token } }] }));
  const block = documentedBlock('Secure pages', 'kubectl get secret', 'kubectl.md');
  const asUser = block.replace('kubectl node-lifecycle status', `$& --kubeconfig=${kubeconfig}`);
  const startedMs = performance.now();
  const text = await cluster.atDesk(asUser, folder);
  if (!/leader/u.test(text)) throw new Error(`the plugin with --certificate-authority says: ${text.slice(0, 500)}`);
  const seconds = secondsSince(startedMs);
  const unverified = asUser.replace('--certificate-authority=ca.crt', '');
  const { code, stderr } = await cluster.tryAtDesk(unverified, folder);
  if (code === 0 || !/no token for them can be requested/u.test(stderr))
    throw new Error(`the plugin without --certificate-authority: ${code} ${stderr.slice(0, 500)}`);
  return seconds;
}

/** What the plugin needs in any case, without the right to request tokens. */
const forwarding = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'oncall-forwards', namespace },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'oncall-forwards', namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'oncall-forwards' },
      subjects: [{ kind: 'ServiceAccount', name: 'oncall', namespace: 'ops' }],
    },
  ],
};

function secondsSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) / 100) / 10;
}

export const pages: Story = {
  name: 'pages',
  about:
    'secure pages: plugin, `nlc` and dashboard of a user with the documented bindings, and rejections without them',
  isComparable: false,
  run,
  limits: { status: 10, 'explain node': 10, 'explain pod': 10, top: 10, dashboard: 15, verified: 10 },
};
