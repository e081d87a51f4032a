import {
  type ServerControllerName,
  serverControllerNames,
} from '../../../hollow-cluster/apiserver/controllers/controller-names.ts';
import { type ServerGate, serverGates } from '../../../hollow-cluster/apiserver/kinds/feature-gates.ts';
import { flag, type FlagDefinition, flagGroup } from '../../flags/flag-definition.ts';
import { logFlags } from '../../flags/shared-flags.ts';
import { splitList } from '../../flags/split-list.ts';

/** All flags of `nlc apiserver`. */
export const apiserverFlags = [
  ...flagGroup('Serving', [
    flag.integer('port', 'Port on 127.0.0.1; 0 selects a free port', { default: 6443, range: { min: 0, max: 65_535 } }),
    flag.boolean('tls', 'Serve HTTPS with a generated certificate; kubectl sends no token over plain HTTP', {
      default: true,
    }),
    flag.text('kubeconfig-out', 'Kubeconfig file to write, with the address, the CA and an admin token of this run', {
      default: 'nlc.kubeconfig',
    }),
  ]),
  ...flagGroup('Storage', [
    flag.text(
      'data-dir',
      'Folder that keeps objects, versions, certificate and admin token across restarts, also after kill -9; if not set, all is in memory',
    ),
  ]),
  ...flagGroup('Access', [
    flag.text(
      'authorization-mode',
      'AlwaysAllow permits everything to every user with a token; RBAC permits what roles and bindings grant, and creates those of a new cluster',
      { default: 'AlwaysAllow', choices: ['AlwaysAllow', 'RBAC'] },
    ),
    flag.text('token-auth-file', 'Users besides the administrator, one a line: token,user,uid,"group1,group2"'),
  ]),
  ...flagGroup('Controllers', [
    flag.text(
      'controllers',
      'Controllers of kube-controller-manager that the server runs itself: NAME, -NAME (disabled) or *; none where kube-controller-manager runs',
      { default: '*' },
    ),
  ]),
  ...flagGroup('Features', [
    flag.map(
      'feature-gates',
      'Feature gates of kube-apiserver: TaintTolerationComparisonOperators=true admits tolerations with the operators Lt and Gt',
    ),
  ]),
  ...flagGroup('Scheduling', [
    flag.boolean(
      'scheduler',
      'Bind pending pods to nodes that fit, as a stand-in for kube-scheduler; leave it off where that runs',
      { default: false },
    ),
    flag.integer('scheduler-seed', 'Decides between equal nodes: the same seed makes the same choices', {
      range: { min: 0, max: 2 ** 31 - 1 },
    }),
  ]),
  ...logFlags,
] as const satisfies readonly FlagDefinition[];

/** Enables no controller. */
const none = 'none';

/** The accepted entries, for messages. */
const controllerWords = [none, '*', ...serverControllerNames].join(', ');

/**
 * The controllers of `--controllers`, with the syntax of kube-controller-manager: NAME enables, -NAME disables, * enables
 * all; of several entries for one controller the first one counts.
 */
export function selectServerControllers(text: string): readonly ServerControllerName[] {
  const list = splitList(text);
  return serverControllerNames.filter((name) => {
    const word = list.find((candidate) => candidate === name || candidate === `-${name}`);
    return word === undefined ? list.includes('*') : word === name;
  });
}

/** One problem, if an entry is unknown. */
export function validateServerControllers(text: string): readonly string[] {
  const known: ReadonlySet<string> = new Set(['*', ...serverControllerNames]);
  const unknown = splitList(text).filter((word) => !known.has(word.replace(/^-/, '')));
  if (text === none || unknown.length === 0) return [];
  const got = unknown.map((word) => JSON.stringify(word)).join(', ');
  return [
    `--controllers: must be a comma-separated list of NAME or -NAME (disabled) of ${controllerWords} (got ${got})`,
  ];
}

type Gates = Readonly<Record<string, string>> | undefined;

/** The gates of `--feature-gates` that are on. */
export function selectServerGates(gates: Gates = {}): ReadonlySet<ServerGate> {
  return new Set(serverGates.filter((name) => gates[name] === 'true'));
}

/** One problem, if a gate is unknown or neither on nor off. */
export function validateServerGates(gates: Gates = {}): readonly string[] {
  const known: ReadonlySet<string> = new Set(serverGates);
  const wrong = Object.entries(gates).filter(([name, value]) => !known.has(name) || !['true', 'false'].includes(value));
  if (wrong.length === 0) return [];
  const accepted = serverGates.map((name) => `${name}=true or =false`).join(', ');
  return [`--feature-gates: must be ${accepted} (got ${wrong.map((pair) => pair.join('=')).join(', ')})`];
}
