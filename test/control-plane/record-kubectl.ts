// Writes the records of kubectl in test/contract/apiserver-clients: kubectl-tour.json is what it prints for the commands of
// the tour on a real kube-apiserver, and on the embedded one where a row says why it differs; kubectl-drain.json is its drain.
// Run it after a change of the rows, then `npm run format`; it prints the differences that have no reason, and the reasons
// without a difference:
//
//     node test/control-plane/record-kubectl.ts
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { KubectlAnswer } from '../contract/apiserver-clients/kubectl-answer.ts';
import { drainRecordFile } from '../contract/apiserver-clients/kubectl-drain.ts';
import { tourRows } from '../contract/apiserver-clients/kubectl-tour-rows.ts';
import {
  describeRow,
  type RecordedAnswer,
  startTouredServer,
  takeTour,
  tourRecordFile,
} from '../contract/apiserver-clients/kubectl-tour.ts';
import { drainRealNodes, takeRealTour } from './kubectl-on-real.ts';

const { answers, kubectl } = await takeRealTour();
const backend = await startTouredServer();
const others = await takeTour(kubectl, backend);
await backend.close();

const record = tourRows.map((row, index): RecordedAnswer => {
  const [real, embedded] = [answers[index]!, others[index]!];
  return { command: describeRow(row), real, ...(row.differs === undefined ? {} : { embedded }) };
});
writeRecord(tourRecordFile, record);
writeRecord(drainRecordFile, await drainRealNodes());

for (const [index, row] of tourRows.entries()) {
  const [real, embedded] = [answers[index]!, others[index]!];
  const isEqual = isDeepStrictEqual(real, embedded);
  if (isEqual && row.differs !== undefined) console.log(`\n### ${describeRow(row)}: equal, but has a reason`);
  if (!isEqual && row.differs === undefined) {
    console.log(`\n### ${describeRow(row)}\n--- real\n${textOf(real)}\n--- embedded\n${textOf(embedded)}`);
  }
}

function writeRecord(file: string, record: readonly object[]): void {
  writeFileSync(file, `${JSON.stringify(record, null, 1)}\n`);
}

function textOf({ code, stdout, stderr }: KubectlAnswer): string {
  return [`exit code ${code}`, ...stdout, '-- stderr', ...stderr].join('\n');
}
