// The faults that were played on kube-controller-manager and on this controller, with times: a section of a decision record.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'decisions');
const record = '0079-a-lease-read-holds-one-node.md';

interface Measured {
  /** The file in docs/decisions. */
  readonly record: string;
  /** Markdown, without its heading. */
  readonly text: string;
}

/** Throws if the record has no section _Measured_. */
export function readMeasured(): Measured {
  const [, section] = readFileSync(join(folder, record), 'utf8').split('\n## Measured\n');
  if (section === undefined) throw new Error(`${record} has no section Measured`);
  const [text = ''] = section.split('\n## ');
  return { record, text: text.trim() };
}
