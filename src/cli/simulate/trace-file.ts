import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as z from 'zod';
import type { Read } from '../../machinery/yaml/yaml-text.ts';
import {
  type ClusterTrace,
  traceApiVersion,
  traceKind,
  type TraceRecord,
} from '../../simulator/recording/cluster-trace.ts';
import { toScenario } from '../../simulator/recording/to-scenario.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { problemsOf } from '../io/document-schema.ts';

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

/** The trace in this file. */
export function readTraceFile(path: string): Read<ClusterTrace> {
  const text = readText(path);
  if ('problems' in text) return text;
  const read = readTrace(text.value);
  return 'problems' in read ? { problems: read.problems.map((problem) => `${path}: ${problem}`) } : read;
}

/** The replay of the trace in this file. */
export function readTraceScenario(path: string): Read<TraceScenario> {
  const read = readTraceFile(path);
  if ('problems' in read) return read;
  const { header } = read.value;
  const startsAtMs = parseTimestamp(header.startedAt);
  return { value: { scenario: { ...toScenario(read.value, `trace ${basename(path)}`), startsAtMs }, header } };
}

const headerSchema = z.object({
  apiVersion: z.literal(traceApiVersion, { error: traceApiVersion }),
  kind: z.literal(traceKind, { error: traceKind }),
  startedAt: z.string({ error: 'a time' }),
  hashedNames: z.boolean({ error: 'true or false' }),
  gapSeconds: z.number({ error: 'a number' }),
  labels: z.array(z.string(), { error: 'a list of label keys' }).optional(),
});
const recordSchema = z.object({
  t: z.number({ error: 'seconds since the start' }).min(0),
  node: z.string({ error: 'the name of a node' }),
  zone: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  ready: z.string().optional(),
  taints: z.array(z.string()).optional(),
  pods: z.record(z.string(), z.int().min(0)).optional(),
  gap: z.number().min(0).optional(),
  open: z.literal(true).optional(),
  rebooted: z.literal(true).optional(),
  gone: z.literal(true).optional(),
});
const endSchema = z.object({ t: z.number(), end: z.enum(['stopped', 'size', 'time']) });
const lineSchema = z.union([endSchema, recordSchema], { error: 'an object with t and node, or t and end' });

/** A problem names the line. A last line without a newline was cut off, and is ignored. */
export function readTrace(text: string): Read<ClusterTrace> {
  const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
  const header = readLine(lines[0] ?? '', 1, headerSchema);
  if ('problems' in header) return header;
  const records: TraceRecord[] = [];
  let end: ClusterTrace['end'];
  for (const [index, line] of lines.slice(1).entries()) {
    const read = readLine(line, index + 2, lineSchema);
    if ('problems' in read) return read;
    if ('end' in read.value) end = read.value;
    else records.push(withoutUndefined(read.value));
  }
  return { value: { header: withoutUndefined(header.value), records, end } };
}

function readLine<T>(line: string, number: number, schema: z.ZodType<T>): Read<T> {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    return { problems: [`line ${number}: must be a JSON object (got ${JSON.stringify(line.slice(0, 80))})`] };
  }
  const read = schema.safeParse(given);
  if (read.success) return { value: read.data };
  return { problems: problemsOf(read.error, given).map((problem) => `line ${number}: ${problem}`) };
}

type Present<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** Fields that are absent, as zod types them, are absent here too. */
function withoutUndefined<T extends object>(value: T): Present<T> {
  const present: Present<T> = JSON.parse(JSON.stringify(value));
  return present;
}
