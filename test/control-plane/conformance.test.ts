// Runs the tests of the embedded API server against a real one. A failure means that the tests are wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { Row } from './conformance-rows.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

const projectFolder = join(import.meta.dirname, '..', '..');
/** Prefix of tests that apply only to the embedded server. */
const embeddedOnly = 'embedded-';
const suite = globSync('test/contract/apiserver/*.test.ts', { cwd: projectFolder })
  .filter((file) => !basename(file).startsWith(embeddedOnly))
  .sort();

test('every test of the API server suite passes on a real API server', async (t) => {
  assert.notEqual(suite.length, 0, 'the suite is not empty');
  await using plane = await startControlPlane();
  const rows = await runSuite(plane);
  assert.notEqual(rows.filter(({ outcome }) => outcome === 'passed').length, 0, 'some tests passed');
  for (const row of rows) {
    await t.test(`${row.file}: ${row.name}`, { skip: row.outcome === 'skipped' ? row.why || true : false }, () => {
      assert.notEqual(row.outcome, 'failed', row.why);
    });
  }
});

async function runSuite(plane: ControlPlane): Promise<readonly Row[]> {
  const { NODE_TEST_CONTEXT: _nested, ...environment } = process.env;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'conformance-rows.ts'), ...suite], {
    cwd: projectFolder,
    env: {
      ...environment,
      CONFORMANCE_BACKEND: 'real',
      CONFORMANCE_URL: plane.url,
      CONFORMANCE_TOKEN: plane.adminToken,
      CONFORMANCE_CA_FILE: plane.caFile,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) output += String(chunk);
  assert.equal(await ended, 0, 'the runner completed');
  return output.trimEnd().split('\n').map(parseRow);
}

function parseRow(line: string): Row {
  const row: Row = JSON.parse(line);
  return row;
}
