// Writes what the unit tests of the protobuf encoder compare with: checksums of the bytes that the Go client writes for
// objects of every kind, with every field set. Run it after an update of the control plane to another release, with Go:
//
//     node test/control-plane/record-encodings.ts
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filledObjects } from '../support/filled-objects.ts';

const root = join(import.meta.dirname, '..', '..');
const recorded = join(root, 'test/unit/hollow-cluster/apiserver/codec/recorded-encodings.json');
/** Of the output of all objects. */
const outputBytesMax = 64 * 1024 * 1024;

const named = Object.entries(filledObjects());
const output = execFileSync('go', ['run', '-trimpath', './marshal'], {
  cwd: join(root, 'tools', 'control-plane'),
  input: JSON.stringify(named.map(([, object]) => object)),
  encoding: 'utf8',
  maxBuffer: outputBytesMax,
});
const lines = output.trim().split('\n');
const checksums = named.map(([name], index) => {
  const bytes = Buffer.from(lines[index] ?? '', 'base64');
  return `${JSON.stringify(name)}: ${JSON.stringify(createHash('sha256').update(bytes).digest('hex'))}`;
});
writeFileSync(recorded, `{\n${checksums.join(',\n')}\n}\n`);
