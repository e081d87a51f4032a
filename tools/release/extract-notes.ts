/** The section of a version in the changelog, without its heading; throws if it is missing or empty. */
export function extractNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => headingVersion(text) === version);
  if (section === undefined)
    throw new Error(`CHANGELOG.md: no section "## ${version}" (sections: ${sections.map(headingVersion).join(', ')})`);
  const notes = section.slice(section.indexOf('\n') + 1).trim();
  if (!notes.includes('\n')) throw new Error(`CHANGELOG.md: the section "## ${version}" is empty`);
  return `${notes}\n`;
}

/** `1.2.3` of `1.2.3 (2026-12-01)`. */
function headingVersion(section: string): string {
  return section.split(/\s/, 1)[0] ?? '';
}

interface Versions {
  /** Of the tag, with its `v`. */
  readonly tag: string;
  readonly [file: string]: string;
}

/** Throws unless all files have the version of the tag. */
export function checkVersions({ tag, ...files }: Versions): string {
  if (!/^v\d+\.\d+\.\d+$/.test(tag)) throw new Error(`tag: must be vX.Y.Z (got ${tag})`);
  const version = tag.slice(1);
  const others = Object.entries(files).filter(([, found]) => found !== version);
  if (others.length === 0) return version;
  throw new Error(others.map(([file, found]) => `${file}: version must be ${version} (got ${found})`).join('\n'));
}
