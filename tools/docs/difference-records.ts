// Reads the differences from kube-controller-manager in the "## Differences" sections of the decision records.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'decisions');

export const differenceAreas = [
  'detection',
  'zones',
  'tainting',
  'pod readiness',
  'eviction',
  'leadership',
  'events',
  'API use',
  'settings and metrics',
  'pod garbage collection',
  'eviction mode',
] as const;

const differenceColumns = ['area', 'reference', 'here', 'why', 'limitation', 'vectors'] as const;

export interface RecordedDifference {
  /** The file in docs/decisions. */
  readonly record: string;
  readonly area: string;
  readonly reference: string;
  readonly here: string;
  readonly why: string;
  /** Numbers in record 0019. */
  readonly limitations: readonly number[];
  /** Ids in test/vectors with a different result here. */
  readonly vectors: readonly string[];
}

/** A limitation of kube-controller-manager that record 0019 keeps. */
export interface KeptLimitation {
  readonly number: number;
  readonly reference: string;
  readonly here: string;
}

/** All differences, in the order of the records. Throws for an incomplete row. */
export function readDifferences(): readonly RecordedDifference[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((record) => differencesIn(record, readFileSync(join(folder, record), 'utf8')));
}

export function differencesIn(record: string, text: string): readonly RecordedDifference[] {
  const [, section] = text.split('\n## Differences\n');
  if (section === undefined) return [];
  const [heading, , ...rows] = tableRows(section);
  if (heading?.join() !== differenceColumns.join()) throw new Error(`${record}: the columns are ${heading?.join()}`);
  return rows.map((cells) => differenceOf(record, cells));
}

function tableRows(section: string): readonly (readonly string[])[] {
  const [own = ''] = section.split('\n## ');
  const lines = own.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function differenceOf(record: string, cells: readonly string[]): RecordedDifference {
  const [area = '', reference = '', here = '', why = '', limitation = '', vectors = ''] = cells;
  const isWhole = cells.length === differenceColumns.length && ![area, reference, here, why].includes('');
  if (!isWhole) throw new Error(`${record}: incomplete row: ${cells.join(' | ')}`);
  return {
    record,
    area,
    reference,
    here,
    why,
    limitations: [...limitation.matchAll(/\d+/gu)].map(([number]) => Number(number)),
    vectors: [...vectors.matchAll(/`([^`]+)`/gu)].map(([, id = '']) => id),
  };
}

/** The limitations that record 0019 marks as "kept", which are not differences. */
export function readKeptLimitations(): readonly KeptLimitation[] {
  const text = readFileSync(join(folder, '0019-known-limitations.md'), 'utf8');
  const rows = [...text.matchAll(/^\| (\d+) \| ([^|]+) \| ((?:behaviour )?kept[^|]*) \|/gmu)];
  return rows.map(([, number, reference = '', here = '']) => ({ number: Number(number), reference, here }));
}
