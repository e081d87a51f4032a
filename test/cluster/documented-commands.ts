// The commands of docs/install.md, as they are written there: those that stories run, and those that they cannot run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** One command of the document: a line of a shell, or several that a backslash joins. */
export interface DocumentedCommand {
  readonly heading: string;
  readonly text: string;
}

/** Where a command is: the heading above it, and how it begins. */
export interface CommandPlace {
  readonly heading: string;
  readonly begins: string;
}

const withoutRegistry = 'Without a registry';
const kustomize = 'Kustomize, or kubectl alone';
const staticPod = 'A static pod';
const disable = '3. Disable the in-tree controllers';
const check = '4. Check that it works';
const goBack = '5. Go back';
const patchDaemonSet = `kubectl patch daemonset node-lifecycle-controller --namespace node-lifecycle-controller --patch='{"spec":{"template":{"spec":{"nodeSelector":`;

/** Commands that stories run one by one, by the name under which they do. Whole blocks are run by `documentedBlock`. */
export const runCommands = {
  'change the mode': { heading: 'Migration steps', begins: 'helm upgrade' },
  'install with helm': { heading: 'Helm', begins: 'helm install' },
  'create the namespace': { heading: 'Helm', begins: 'kubectl create namespace' },
  'render with helm': { heading: 'Helm', begins: 'helm template' },
  'another way to the API server': { heading: 'The way to the API server', begins: '--set apiServer.host' },
  'apply install.yaml': { heading: kustomize, begins: 'kubectl apply --server-side --filename' },
  'apply an overlay': { heading: kustomize, begins: 'kubectl apply --server-side --kustomize' },
  'delete what shadow does not have': { heading: kustomize, begins: 'kubectl delete role,rolebinding' },
  'delete the budget': { heading: kustomize, begins: 'kubectl delete poddisruptionbudget' },
  'delete the Deployment': { heading: kustomize, begins: 'kubectl delete deployment,poddisruptionbudget' },
  'bind the user of static pods': { heading: staticPod, begins: 'kubectl apply' },
  'protect the kubeconfig': { heading: staticPod, begins: 'chown' },
  'add the static pod': { heading: staticPod, begins: 'cp' },
  'list static pods': { heading: staticPod, begins: 'kubectl get pods' },
  'remove the static pod': { heading: staticPod, begins: 'rm' },
  'unbind the user of static pods': { heading: staticPod, begins: 'kubectl delete' },
  'see the lease': { heading: check, begins: 'kubectl get lease' },
  'status by the plugin': { heading: check, begins: 'kubectl node-lifecycle status' },
  'status in a pod': { heading: check, begins: 'kubectl exec' },
  'stop the Deployment': { heading: goBack, begins: 'kubectl scale --replicas=0' },
  'start the Deployment': { heading: goBack, begins: 'kubectl scale --replicas=2' },
  'stop the DaemonSet': { heading: goBack, begins: `${patchDaemonSet}{"stopped":"true"}` },
  'start the DaemonSet': { heading: goBack, begins: `${patchDaemonSet}{"stopped":null}` },
  'uninstall the release': { heading: goBack, begins: 'helm uninstall' },
  'delete install.yaml': { heading: goBack, begins: 'kubectl delete --ignore-not-found --filename' },
  'delete the lease': { heading: goBack, begins: 'kubectl delete lease --namespace kube-system' },
  'delete the canary lease': { heading: goBack, begins: 'kubectl delete lease --namespace kube-node-lease' },
  'delete the namespace': { heading: goBack, begins: 'kubectl delete namespace' },
  'change a setting': { heading: 'Changing a setting', begins: 'helm upgrade' },
  'restart the pods': { heading: 'Changing a setting', begins: 'kubectl rollout restart' },
} as const satisfies Readonly<Record<string, CommandPlace>>;
export type RunCommand = keyof typeof runCommands;

/** Commands that no story can run, and why. */
export const notRunCommands: readonly (CommandPlace & { readonly why: string })[] = [
  { heading: '1. An image', begins: 'npm ci', why: 'makes the image with which the cluster starts' },
  { heading: '1. An image', begins: 'crane push', why: 'there is no registry' },
  { heading: withoutRegistry, begins: 'docker buildx', why: 'there is no container engine but containerd' },
  {
    heading: staticPod,
    begins: 'kubeadm kubeconfig',
    why: 'there is no kubeadm; the certificate is made with openssl',
  },
  {
    heading: disable,
    begins: 'kubectl get pods',
    why: 'kube-controller-manager of this cluster is a process, not a pod',
  },
  { heading: disable, begins: 'journalctl --unit k3s', why: 'of k3s' },
  { heading: disable, begins: 'kubectl get configmap kubeadm-config', why: 'of kubeadm' },
  { heading: disable, begins: 'kubeadm init phase upload-config', why: 'of kubeadm' },
  {
    heading: check,
    begins: 'kubectl logs',
    why: 'kube-controller-manager of this cluster is a process: stories read its log',
  },
];

/** All commands of a page, in their order, without comments. A line of a shell may begin with `# `, as the title does. */
export function commandsOf(page: string): readonly DocumentedCommand[] {
  return page.split(/^##+ /mu).flatMap((section) => {
    const heading = section.split('\n')[0] ?? '';
    const blocks = [...section.matchAll(/^```bash\n(.*?)^```$/gmsu)].map(([, block = '']) => block);
    return blocks.flatMap(linesOf).map((text) => ({ heading, text }));
  });
}

function linesOf(block: string): readonly string[] {
  const lines = block
    .replaceAll(/(^| +)#.*$/gmu, '')
    .replaceAll(/\\\n */gu, '')
    .split('\n');
  return lines.map((line) => line.trimEnd()).filter((line) => line !== '');
}

function page(): string {
  return readFileSync(join(root, 'docs', 'install.md'), 'utf8');
}

/** All commands of docs/install.md. */
export function documentedCommands(): readonly DocumentedCommand[] {
  return commandsOf(page());
}

/** The kustomization that the document has as an example. */
export function documentedOverlay(): string {
  const [, found] = /^```yaml\n(apiVersion: kustomize.*?)^```$/msu.exec(page()) ?? [];
  if (found === undefined) throw new Error('docs/install.md has no kustomization');
  return found;
}

export function isAt({ heading, text }: DocumentedCommand, place: CommandPlace): boolean {
  return heading === place.heading && text.startsWith(place.begins);
}

/**
 * A command as it is written, with values for its placeholders and examples: each is replaced wherever it stands. An error if the document
 * has no such command or no such placeholder, so that a document that changes is noticed.
 */
export function documentedCommand(name: RunCommand, values: Readonly<Record<string, string>> = {}): string {
  const { heading, begins } = runCommands[name];
  const found = documentedCommands().find((command) => isAt(command, { heading, begins }));
  if (found === undefined) throw new Error(`docs/install.md has no command "${begins}" below "${heading}"`);
  return Object.entries(values).reduce((text, [placeholder, value]) => {
    if (!text.includes(placeholder)) throw new Error(`"${placeholder}" is not in: ${text}`);
    return text.replaceAll(placeholder, value);
  }, found.text);
}
