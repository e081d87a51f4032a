import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { ScriptStep } from '../../kubelet/faults/fault-script.ts';
import { type Read, readFaultScript } from './fault-schema.ts';

/** Aliases a file may unfold; more is an attack or an accident. */
const aliasesMax = 100;

/** A script of faults from a file, in YAML or JSON. Problems name the file. */
export function readScriptFile(path: string): Read<readonly ScriptStep[]> {
  const parsed = parseFile(path);
  if ('problems' in parsed) return parsed;
  const read = readFaultScript(parsed.value);
  return 'problems' in read ? { problems: read.problems.map((problem) => `${path}: ${problem}`) } : read;
}

function parseFile(path: string): Read<unknown> {
  try {
    const document = parseDocument(readFileSync(path, 'utf8'), { uniqueKeys: true });
    const errors = document.errors.map(({ message }) => `${path} is not YAML: ${message.split('\n', 1)[0] ?? ''}`);
    return errors.length > 0 ? { problems: errors } : { value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problems: [`--script: got ${JSON.stringify(path)}; accepted: a file that can be read (${why})`] };
  }
}
