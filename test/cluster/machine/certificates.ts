// A certificate authority, certificates and kubeconfigs of all components, as kubeadm makes them. With openssl.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';
import { addressOf, apiAddress, type ClusterSettings, nodeFolder, nodeNames } from './settings.ts';

const days = '30';
const usages = 'keyUsage=critical,digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n';

interface Wanted {
  readonly name: string;
  readonly ca: 'ca' | 'front-proxy-ca';
  readonly subject: string;
  readonly names?: readonly string[];
}

/** Folder of the certificates. */
export function pkiFolder({ folder }: ClusterSettings): string {
  return join(folder, 'pki');
}

export async function makeCertificates(settings: ClusterSettings): Promise<void> {
  const folder = pkiFolder(settings);
  mkdirSync(folder, { recursive: true });
  await makeAuthority(folder, 'ca', 'kubernetes-ca');
  await makeAuthority(folder, 'front-proxy-ca', 'front-proxy-ca');
  await runProgram('openssl', ['genrsa', '-out', join(folder, 'sa.key'), '2048']);
  await runProgram('openssl', ['rsa', '-in', join(folder, 'sa.key'), '-pubout', '-out', join(folder, 'sa.pub')]);
  for (const wanted of certificatesOf(settings)) await makeCertificate(folder, wanted);
  for (const [name, file] of kubeconfigsOf(settings)) writeFileSync(file, kubeconfig(settings, name), { mode: 0o600 });
}

/** A kubeconfig with a client certificate of a user, signed by the authority of the cluster. */
export async function makeKubeconfig(settings: ClusterSettings, user: string): Promise<string> {
  await makeCertificate(pkiFolder(settings), { name: user, ca: 'ca', subject: `/CN=${user}` });
  return kubeconfig(settings, user);
}

/** A certificate of the cluster's authority for a server with these names; returns its files. */
export async function issueServerCertificate(
  settings: ClusterSettings,
  name: string,
  names: readonly string[],
): Promise<{ readonly certificate: string; readonly key: string; readonly authority: string }> {
  const folder = pkiFolder(settings);
  await makeCertificate(folder, { name, ca: 'ca', subject: `/CN=${name}`, names: names.map((each) => `DNS:${each}`) });
  return {
    certificate: join(folder, `${name}.crt`),
    key: join(folder, `${name}.key`),
    authority: join(folder, 'ca.crt'),
  };
}

/** A kubeconfig of a user of this group with a client certificate, as `kubeadm kubeconfig user` makes it; returns its file. */
export async function issueKubeconfig(settings: ClusterSettings, user: string, group: string): Promise<string> {
  await makeCertificate(pkiFolder(settings), { name: user, ca: 'ca', subject: `/O=${group}/CN=${user}` });
  const file = join(settings.folder, `${user}.conf`);
  writeFileSync(file, kubeconfig(settings, user), { mode: 0o600 });
  return file;
}

function certificatesOf(settings: ClusterSettings): readonly Wanted[] {
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const addresses = [`${settings.network.services}.0.1`, apiAddress(settings), '127.0.0.1'];
  const ofApiServer = [...[...service, 'localhost'].map((name) => `DNS:${name}`), ...addresses.map((ip) => `IP:${ip}`)];
  const ofNodes = nodeNames.flatMap((node): Wanted[] => {
    const subject = `/O=system:nodes/CN=system:node:${node}`;
    const names = [`DNS:${node}`, `IP:${addressOf(settings, node)}`];
    return [
      { name: node, ca: 'ca', subject },
      { name: `${node}-server`, ca: 'ca', subject, names },
    ];
  });
  return [
    { name: 'apiserver', ca: 'ca', subject: '/CN=kube-apiserver', names: ofApiServer },
    { name: 'kubelet-client', ca: 'ca', subject: '/O=kubeadm:cluster-admins/CN=kube-apiserver-kubelet-client' },
    { name: 'front-proxy-client', ca: 'front-proxy-ca', subject: '/CN=front-proxy-client' },
    { name: 'admin', ca: 'ca', subject: '/O=system:masters/CN=admin' },
    { name: 'controllers', ca: 'ca', subject: '/CN=system:kube-controller-manager' },
    { name: 'scheduler', ca: 'ca', subject: '/CN=system:kube-scheduler' },
    { name: 'proxy', ca: 'ca', subject: '/CN=system:kube-proxy' },
    ...ofNodes,
  ];
}

function kubeconfigsOf(settings: ClusterSettings): readonly (readonly [name: string, file: string])[] {
  const { folder } = settings;
  for (const node of nodeNames) mkdirSync(nodeFolder(settings, node), { recursive: true });
  return [
    ['admin', join(folder, 'kubeconfig')],
    ...['controllers', 'scheduler', 'proxy'].map((name) => [name, join(folder, `${name}.conf`)] as const),
    ...nodeNames.map((node) => [node, join(nodeFolder(settings, node), 'kubelet.conf')] as const),
  ];
}

async function makeAuthority(folder: string, name: string, subject: string): Promise<void> {
  const key = join(folder, `${name}.key`);
  await makeKey(key);
  const usage = 'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign';
  const out = join(folder, `${name}.crt`);
  await runProgram('openssl', [
    'req',
    '-x509',
    '-new',
    '-key',
    key,
    '-subj',
    `/CN=${subject}`,
    '-days',
    days,
    '-out',
    out,
    '-addext',
    usage,
  ]);
}

async function makeCertificate(folder: string, { name, ca, subject, names = [] }: Wanted): Promise<void> {
  const [key, request, extensions] = ['key', 'csr', 'ext'].map((kind) => join(folder, `${name}.${kind}`)) as [
    string,
    string,
    string,
  ];
  await makeKey(key);
  await runProgram('openssl', ['req', '-new', '-key', key, '-subj', subject, '-out', request]);
  writeFileSync(extensions, `${usages}${names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`}`);
  const authority = ['-CA', join(folder, `${ca}.crt`), '-CAkey', join(folder, `${ca}.key`), '-CAcreateserial'];
  const out = join(folder, `${name}.crt`);
  await runProgram('openssl', [
    'x509',
    '-req',
    '-in',
    request,
    ...authority,
    '-days',
    days,
    '-extfile',
    extensions,
    '-out',
    out,
  ]);
}

async function makeKey(file: string): Promise<void> {
  await runProgram('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file]);
}

function kubeconfig(settings: ClusterSettings, name: string): string {
  const read = (file: string): string => readFileSync(join(pkiFolder(settings), file)).toString('base64');
  const user = { 'client-certificate-data': read(`${name}.crt`), 'client-key-data': read(`${name}.key`) };
  const cluster = {
    server: `https://${apiAddress(settings)}:6443`,
    'certificate-authority-data': read('ca.crt'),
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster }],
    users: [{ name, user }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: name } }],
    'current-context': 'real',
  });
}
