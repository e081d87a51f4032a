// `nlc __complete WORD...`: for the scripts of `nlc completion` and, by the name of the program, for kubectl.
import { setTimeout as sleep } from 'node:timers/promises';
import { mapOf, mapsOf, textOf } from '../../machinery/api/json-map.ts';
import { ClusterClient } from '../../machinery/kube-client/cluster-client.ts';
import { loadConnection } from '../../machinery/kubeconfig/connection.ts';
import {
  type Completions,
  directives,
  formatCompletions,
  selectFlags,
  selectMatching,
  selectNames,
  selectPosition,
  selectValues,
} from '../completion/select-completions.ts';
import type { FlagDefinition } from '../flags/flag-definition.ts';
import { parseFlags } from '../flags/flags.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, exitSuccess } from '../io/command-io.ts';
import { userAgent } from '../io/version.ts';
import { type Catalog, type CommandEntry, findCommand, isGroup } from './command-entry.ts';

const none: Completions = { candidates: [], directive: directives.noFiles };
const shells = ['bash', 'zsh', 'fish'] as const;
const kinds = ['node', 'pod'] as const;

/** Prints what the last word can be completed to. Never fails: a shell has no place for an error. */
export async function complete(words: readonly string[], io: CommandIo, catalog: Catalog): Promise<number> {
  const completions = await completionsOf(words.length === 0 ? [''] : words, catalog).catch(() => none);
  io.stdout(formatCompletions(completions));
  return exitSuccess;
}

async function completionsOf(words: readonly string[], catalog: Catalog): Promise<Completions> {
  const { operand, others } = commandIn(words, catalog);
  if (operand === undefined) return commandCompletions(words, catalog);
  if (operand === 'help') return others.length > 1 ? none : commandCompletions(others, catalog);
  const entry = findCommand(operand, catalog);
  if (entry === undefined) return none;
  return isGroup(entry) ? completionsOf(others, await entry.loadCatalog()) : argumentCompletions(others, entry);
}

/** The command, if it is complete: the last word is being typed. */
function commandIn(words: readonly string[], { sharedFlags = [] }: Catalog): ReturnType<typeof takeOperand> {
  const typed = words.at(-1) ?? '';
  const { operand, others } = takeOperand(words.slice(0, -1), sharedFlags);
  return { operand, others: [...others, typed] };
}

function commandCompletions(words: readonly string[], { commands, sharedFlags = [] }: Catalog): Completions {
  const position = selectPosition(words, sharedFlags);
  if (position.kind === 'value') return selectValues(position.typed, position.flag);
  if (position.kind === 'flag') return selectFlags(position.typed, sharedFlags);
  const names = commands.map(({ name, summary }) => ({ word: name, description: summary }));
  const help = { word: 'help', description: 'Prints help, or the flags of a command' };
  return selectMatching(position.typed, [...names, help]);
}

async function argumentCompletions(words: readonly string[], entry: CommandEntry): Promise<Completions> {
  const flags = await entry.loadFlags();
  const position = selectPosition(words, flags);
  const cluster = clusterOf(words, flags);
  switch (position.kind) {
    case 'flag':
      return selectFlags(position.typed, flags);
    case 'value':
      if (position.flag.name !== 'namespace') return selectValues(position.typed, position.flag);
      return selectNames(position.typed, '', await readNames({ path: 'namespaces', ...cluster }));
    case 'argument':
      return position.place === 0 ? operandCompletions(position.typed, entry, cluster) : none;
  }
}

type Cluster = Omit<Parameters<typeof readNames>[0], 'path'>;

/** The kubeconfig and context among the words. */
function clusterOf(words: readonly string[], flags: readonly FlagDefinition[]): Cluster {
  const named = flags.filter(({ name }) => name === 'kubeconfig' || name === 'context');
  const { inputs } = parseFlags(words, named);
  const textOf = (key: string): string | undefined => {
    const given = inputs.get(key)?.given;
    return typeof given === 'string' && given !== '' ? given : undefined;
  };
  return { kubeconfig: textOf('kubeconfig'), context: textOf('context') };
}

async function operandCompletions(typed: string, { completes }: CommandEntry, cluster: Cluster): Promise<Completions> {
  if (completes === 'file') return { candidates: [], directive: directives.default };
  if (completes === 'subject') return subjectCompletions(typed, cluster);
  const words = completes === 'shell' ? shells : [];
  return selectMatching(
    typed,
    words.map((word) => ({ word, description: '' })),
  );
}

/** `node/NAME` or `pod/NAMESPACE/NAME`, one part after the other. */
async function subjectCompletions(typed: string, cluster: Cluster): Promise<Completions> {
  const [kind = '', namespace, name] = typed.split('/');
  if (namespace === undefined) return selectNames(typed, '', kinds, '/');
  if (['node', 'nodes', 'no'].includes(kind))
    return selectNames(typed, `${kind}/`, await readNames({ path: 'nodes', ...cluster }));
  if (!['pod', 'pods', 'po'].includes(kind)) return none;
  if (name === undefined)
    return selectNames(typed, `${kind}/`, await readNames({ path: 'namespaces', ...cluster }), '/');
  const path = `namespaces/${encodeURIComponent(namespace)}/pods`;
  return selectNames(typed, `${kind}/${namespace}/`, await readNames({ path, ...cluster }));
}

const timeMsMax = 2_000;
const namesMax = 500;
/** Only names are read, not the objects. */
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

interface NamesQuery {
  /** Path of the list: `nodes`, `namespaces`, `namespaces/default/pods`. */
  readonly path: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** Names in the list, for a completion: none in case of any failure, or after two seconds. */
async function readNames(query: NamesQuery): Promise<readonly string[]> {
  const ended = new AbortController();
  const late = sleep(timeMsMax, [], { signal: ended.signal }).catch(() => []);
  try {
    return await Promise.race([listNames(query, ended.signal), late]);
  } catch {
    return []; // a shell that waits for a completion has no place for an error
  } finally {
    ended.abort();
  }
}

async function listNames({ path, kubeconfig, context }: NamesQuery, signal: AbortSignal): Promise<readonly string[]> {
  const client = new ClusterClient(await loadConnection({ kubeconfig, context }), userAgent('completion'));
  try {
    const list = await client.get(`/api/v1/${path}?limit=${namesMax}`, signal, metadataOnly);
    return mapsOf(list['items']).map((item) => textOf(mapOf(item['metadata'])['name']));
  } finally {
    await client.close();
  }
}
