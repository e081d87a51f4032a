// Every decision record states its decision, its status and its reasons, and has a row in the index.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'decisions');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const records = readdirSync(folder).filter((name) => name !== 'README.md');

/** A row of the index: link, title, short answer, status. */
interface IndexRow {
  readonly record: string;
  readonly title: string;
  readonly answer: string;
  readonly status: string;
}

function indexRows(): readonly IndexRow[] {
  const rows = read('README.md').matchAll(
    /^\| \[(\d{4})\]\(((?:\1)-[a-z0-9-]+\.md)\) \| (.+?) \| (.+?) \| (.+?) \|$/gmu,
  );
  return [...rows].map(([, , record = '', title = '', answer = '', status = '']) => ({
    record,
    title,
    answer,
    status,
  }));
}

function titleOf(record: string): string {
  return /^# \d{4}: (.+)\n/u.exec(read(record))?.[1] ?? '';
}

/** `accepted`, or the record that supersedes this one, in whole or in part. */
function statusOf(record: string): string {
  const statement = /^Status: ([\s\S]+?)(?:\n\n|$)/mu.exec(read(record))?.[1]?.replaceAll('\n', ' ') ?? '';
  const superseded = /superseded (?:in part )?by \[\d{4}\]\([a-z0-9-]+\.md\)/u.exec(statement)?.[0];
  return superseded ?? (/^accepted \(\d{4}-\d{2}-\d{2}\)/u.test(statement) ? 'accepted' : `no status: ${statement}`);
}

test('a decision record begins with its number and its decision as a sentence', () => {
  assert.ok(records.length > 40);
  for (const record of records) {
    assert.match(record, /^\d{4}-[a-z0-9-]+\.md$/u);
    assert.ok(read(record).startsWith(`# ${record.slice(0, 4)}: `), record);
    const title = titleOf(record);
    assert.match(title, /^[A-Z].*[^.]$/u, `${record}: a sentence without a full stop`);
    assert.ok(title.split(' ').length >= 5, `${record}: "${title}" is a topic, not a decision`);
    assert.match(title, verbs, `${record}: "${title}" has no verb`);
  }
});

/** The verbs of the titles; a new title may need another one. */
const verbs =
  /\b(?:are|is|has|have|counts?|imports?|swaps?|runs?|run|ends|holds|answers|reload|uses|lasts|ships|shares|takes|list|decides|derives|reads|manages|selects|work|take|exists|checks|shows)\b/u;

test('a decision record has a status and the sections Context, Decision and Consequences, in this order', () => {
  for (const record of records) {
    assert.match(statusOf(record), /^(?:accepted$|superseded )/u, record);
    const headings = [...read(record).matchAll(/^## (.+)$/gmu)].map(([, heading = '']) => heading);
    const required = headings.filter((heading) => ['Context', 'Decision', 'Consequences'].includes(heading));
    assert.deepEqual(required, ['Context', 'Decision', 'Consequences'], record);
  }
});

test('the index has one row for each decision record, with its title, a short answer and its status', () => {
  const rows = indexRows();
  const seen = rows.map(({ record }) => record);
  assert.deepEqual(seen, records.toSorted());
  for (const { record, title, answer, status } of rows) {
    assert.equal(title, titleOf(record));
    assert.equal(status, statusOf(record), record);
    assert.match(answer, /\S.*\.$/u, record);
  }
});
