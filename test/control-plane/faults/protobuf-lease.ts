// Creates a lease as protobuf, because JSON cannot represent a time beyond the year 9999.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { envelope, field, message } from '../../support/protobuf-writer.ts';
import type { ControlPlane } from '../control-plane.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** Creates a lease in kube-node-lease with this `renewTime.seconds`. Throws if kube-apiserver does not accept it. */
export async function makeLease(
  plane: Pick<ControlPlane, 'url' | 'caFile' | 'adminToken'>,
  name: string,
  renewTimeSeconds: number,
): Promise<void> {
  const metadata = message(field(1, name), field(3, 'kube-node-lease'));
  const spec = message(field(1, name), field(2, 40), field(4, message(field(1, renewTimeSeconds))));
  const body = envelope('coordination.k8s.io/v1', 'Lease', message(field(1, metadata), field(2, spec)));
  const agent = new Agent({ connect: { ca: readFileSync(plane.caFile, 'utf8') } });
  try {
    const headers = {
      authorization: `Bearer ${plane.adminToken}`,
      'content-type': protobuf,
      accept: 'application/json',
    };
    const answer = await request(`${plane.url}${path}`, { method: 'POST', headers, body, dispatcher: agent });
    const text = await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`POST ${path}: ${answer.statusCode} ${text}`);
  } finally {
    await agent.destroy();
  }
}
