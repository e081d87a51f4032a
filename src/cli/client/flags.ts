import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';

/** `wide`: the text, and the pages that belong to it. */
const pageOutputs = ['text', 'wide', 'json', 'yaml'] as const;
export type PageOutput = (typeof pageOutputs)[number];

/** The format in which the controller is asked for a page. */
export function servedFormat(output: PageOutput): 'text' | 'json' {
  return output === 'text' || output === 'wide' ? 'text' : 'json';
}

/** Server and credentials of the commands that read pages of a controller. */
export const serverFlags = [
  ...flagGroup('Controller', [
    flag.text('server', 'Metrics address of the controller; use the leader, because a standby evaluates nothing', {
      default: 'http://127.0.0.1:8080',
      pattern: /^https?:\/\/[^\s/?#]+\/?$/,
      patternMeaning: 'http://HOST:PORT or https://HOST:PORT',
    }),
  ]),
  ...flagGroup('Secure serving (controller with --metrics-secure)', [
    flag.text('token', 'Bearer token, as from kubectl create token'),
    flag.text('token-file', 'File with the bearer token; default in a pod and on loopback: the service account token'),
    flag.text(
      'kubeconfig',
      'Kubeconfig file whose user (token, plugin or client certificate) is sent; its cluster is not used',
    ),
    flag.text('context', 'Kubeconfig context to use instead of the current one'),
    flag.text(
      'certificate-authority',
      'PEM file with the CA of the serving certificate; the CAs of Node.js if not set',
    ),
    flag.text('tls-server-name', 'Expected name in the serving certificate, if it is not the host of --server'),
    flag.boolean(
      'insecure-skip-tls-verify',
      'Do not verify the serving certificate; the token goes to any server, so use it on loopback only',
      { default: false },
    ),
  ]),
] as const satisfies readonly FlagDefinition[];

export const outputFlags = [
  ...flagGroup('Controller', [
    flag.text(
      'output',
      'Output format: a summary as text; wide adds the pages that belong to it; JSON or YAML with all values',
      { short: 'o', default: 'text', choices: pageOutputs },
    ),
  ]),
] as const satisfies readonly FlagDefinition[];

/** The flags of `nlc explain`, `nlc status` and `nlc shadow`. */
export const explainFlags = [...serverFlags, ...outputFlags] as const satisfies readonly FlagDefinition[];
