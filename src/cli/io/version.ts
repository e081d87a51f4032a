import manifest from '../../../package.json' with { type: 'json' };

/** The version in package.json, which the bundle inlines. */
export function ownVersion(): string {
  return manifest.version;
}

/** The User-Agent header for requests to an API server. */
export function userAgent(part: string): string {
  return `node-lifecycle-controller/${ownVersion()} (${process.platform}/${process.arch}) node/${process.versions.node} ${part}`;
}
