import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { ClusterTrace } from '../../simulator/recording/cluster-trace.ts';
import { toScenario } from '../../simulator/recording/to-scenario.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import type { Read } from '../../machinery/yaml/yaml-text.ts';
import { readTrace } from './read-trace.ts';

interface TraceScenario {
  readonly scenario: Scenario;
  readonly header: ClusterTrace['header'];
}

/** Each problem names the file. */
export function readText(path: string): Read<string> {
  try {
    return { value: readFileSync(path, 'utf8') };
  } catch (error) {
    return { problems: [`${path}: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

/** The replay of the trace in this file. */
export function readTraceScenario(path: string): Read<TraceScenario> {
  const text = readText(path);
  if ('problems' in text) return text;
  const read = readTrace(text.value);
  if ('problems' in read) return { problems: read.problems.map((problem) => `${path}: ${problem}`) };
  return { value: { scenario: toScenario(read.value, `trace ${basename(path)}`), header: read.value.header } };
}
