// The CA of client certificates of a cluster, and the certificate with which the API server connects to kubelets.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../support/certificates.ts';

const validForMs = 24 * 3_600_000;

export class ClientAuthority {
  readonly certFile: string;
  readonly keyFile: string;
  /** Flags of the API server, which kube-apiserver and `nlc apiserver` have in common. */
  readonly kubeletFlags: readonly string[];
  readonly #folder: string;

  /** Writes all files. */
  static async write(): Promise<ClientAuthority> {
    const authority = await TestAuthority.make('client CA', validForMs);
    const client = await authority.sign({ subject: 'CN=kube-apiserver-kubelet-client', validForMs });
    const files = new ClientAuthority(mkdtempSync(join(tmpdir(), 'nlc-client-ca-')));
    files.#write('client-ca.crt', authority.cert);
    files.#write('client-ca.key', await authority.key());
    files.#write('kubelet-client.crt', client.cert);
    files.#write('kubelet-client.key', client.key);
    return files;
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.certFile = join(folder, 'client-ca.crt');
    this.keyFile = join(folder, 'client-ca.key');
    this.kubeletFlags = [
      `--kubelet-client-certificate=${join(folder, 'kubelet-client.crt')}`,
      `--kubelet-client-key=${join(folder, 'kubelet-client.key')}`,
    ];
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(name: string, pem: string): void {
    writeFileSync(join(this.#folder, name), pem, { mode: 0o600 });
  }
}
