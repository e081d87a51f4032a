// The CA of client certificates of a cluster, which signs what CertificateSigningRequests ask for.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../support/certificates.ts';

const validForMs = 24 * 3_600_000;

export class ClientAuthority {
  readonly certFile: string;
  readonly keyFile: string;
  readonly #folder: string;

  /** Writes both files. */
  static async write(): Promise<ClientAuthority> {
    const authority = await TestAuthority.make('client CA', validForMs);
    const files = new ClientAuthority(mkdtempSync(join(tmpdir(), 'nlc-client-ca-')));
    files.#write('client-ca.crt', authority.cert);
    files.#write('client-ca.key', await authority.key());
    return files;
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.certFile = join(folder, 'client-ca.crt');
    this.keyFile = join(folder, 'client-ca.key');
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(name: string, pem: string): void {
    writeFileSync(join(this.#folder, name), pem, { mode: 0o600 });
  }
}
