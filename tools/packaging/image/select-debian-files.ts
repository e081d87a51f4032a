// Which files of the Debian packages are in the image: what Node.js loads, time zones, certificates, licences, and the name of the
// distribution for scanners. No programs, and no modules that only other programs load.

const kept = [
  /^lib(64)?$/,
  /^usr\/lib(64)?\/ld-linux[^/]*$/,
  /^usr\/lib\/[^/]+-linux-gnu\/ld-linux[^/]*$/,
  /^usr\/lib\/[^/]+-linux-gnu\/lib(c|m|dl|pthread|resolv|nss_dns|nss_files|gcc_s|stdc\+\+|atomic)\.so\.[0-9.]+$/,
  /^usr\/share\/zoneinfo\//,
  /^usr\/lib\/os-release$/,
  /^etc\/(os-release|debian_version)$/,
  /^usr\/share\/doc\/[^/]+(\/copyright)?$/,
  /^usr\/share\/common-licenses\//,
];

/** Certificates are not kept as files: they are joined into one. */
export const certificates = /^usr\/share\/ca-certificates\/mozilla\/.*\.crt$/;

/** For the path of a file or a link in a package, relative to the root. */
export function isKept(path: string): boolean {
  return kept.some((pattern) => pattern.test(path));
}
