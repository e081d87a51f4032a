import type { DebianPackage } from './pinned-inputs.ts';

const line = /^'https?:\/\/[^/]+\/(\S+)' (\S+?)_(\S+)_(amd64|arm64|all)\.deb \d+ SHA256:([0-9a-f]{64})$/;

/** The packages in the output of `apt-get download --print-uris`; throws on a line of another form. */
export function parseDownloads(text: string): readonly DebianPackage[] {
  return text
    .split('\n')
    .filter((printed) => printed !== '')
    .map((printed) => {
      const [, path = '', name = '', version = '', architecture, sha256 = ''] = line.exec(printed) ?? [];
      if (path === '') throw new Error(`apt-get download: not a download: ${printed}`);
      const decoded = version.replaceAll('%3a', ':');
      return { name, version: decoded, architecture: architecture as DebianPackage['architecture'], path, sha256 };
    });
}
