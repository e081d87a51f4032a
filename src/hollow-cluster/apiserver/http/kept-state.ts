/** What a server takes over from the data dir: objects, its certificate and the token of the administrator. */
import { X509Certificate } from 'node:crypto';
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { parseExactJson } from '../codec/parse-exact-json.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { toFormOf } from '../codec/custom-form.ts';
import { WireFormError } from '../codec/wire-form.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/data-dir-error.ts';
import type { StoredRow } from '../data-dir/object-database.ts';
import { buildStored } from '../registry/stored-version.ts';
import type { Strategy } from '../kinds/strategy.ts';
import { type ServedResource, tableOf } from '../resources.ts';
import { isMap, mapAt } from '../../../machinery/api/select-field.ts';
import { snapshotOf } from '../storage/resource-table.ts';
import { type Draft, isDraft, type StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { makeServingCertificate, type ServingCertificate } from '../../../machinery/page-server/serving-certificate.ts';
import { makeAdmin, type TokenUser } from './static-tokens.ts';

const certificateSecret = 'serving-certificate';
const adminSecret = 'admin-token';
/** Time before its end at which a kept certificate is replaced, at the start of a server only. */
const renewedBeforeMs = 30 * 24 * 3_600_000;

interface KeptOptions {
  readonly tokens?: readonly TokenUser[];
  readonly dataDir?: DataDir | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The first user: as given, as kept, or a new one. */
export async function keptAdmin({ tokens, dataDir }: KeptOptions): Promise<TokenUser> {
  const [given] = tokens ?? [];
  if (given !== undefined) return given;
  const made = makeAdmin();
  return dataDir === undefined ? made : { ...made, token: await dataDir.keepSecret(adminSecret, () => made.token) };
}

/** The certificate of the data dir, or a new one if there is none or it ends soon. */
export async function keptCertificate({ dataDir, clock, logger }: KeptOptions): Promise<ServingCertificate> {
  if (dataDir === undefined) return makeServingCertificate();
  const kept = parseCertificate(await dataDir.keepSecret(certificateSecret, makeText));
  const notAfterMs = kept === undefined ? 0 : new X509Certificate(kept.certPem).validToDate.getTime();
  if (kept !== undefined && notAfterMs - clock.nowMs() > renewedBeforeMs) return kept;
  logger.warn({ folder: dataDir.folder }, 'kept serving certificate expires soon; made a new one with a new CA');
  const made = await makeServingCertificate();
  dataDir.replaceSecret(certificateSecret, JSON.stringify(made));
  return made;
}

async function makeText(): Promise<string> {
  return JSON.stringify(await makeServingCertificate());
}

function parseCertificate(text: string): ServingCertificate | undefined {
  const parsed: unknown = JSON.parse(text);
  if (!isMap(parsed)) return undefined;
  const { caPem, certPem, keyPem } = parsed;
  if (typeof caPem !== 'string' || typeof certPem !== 'string' || typeof keyPem !== 'string') return undefined;
  return { caPem, certPem, keyPem };
}

interface RestoreOptions {
  /** All served resources. */
  readonly served: readonly ServedResource[];
  readonly strategies: ReadonlyMap<string, Strategy>;
  readonly dataDir: DataDir;
  readonly logger: Logger;
}

/**
 * Fills the empty store, before anything else is written to it. Objects have the form and the defaults of this version,
 * whatever version wrote them, as kube-apiserver decodes what it reads from etcd. Objects of resources that are not served
 * stay in the data dir. Throws a {@link DataDirError} for a damaged object.
 */
export function restoreObjects(store: VersionedStore, options: RestoreOptions): void {
  const { served, strategies, dataDir, logger } = options;
  const state = dataDir.read();
  if (state !== undefined) {
    const resources = ofTables(served);
    const objects = new Map<string, StoredObject[]>();
    const unserved = new Map<string, number>();
    for (const row of state.rows()) {
      const [strategy, resource] = [strategies.get(row.table), resources.get(row.table)];
      if (strategy === undefined || resource === undefined) {
        unserved.set(row.table, (unserved.get(row.table) ?? 0) + 1);
        continue;
      }
      const draft = restoredDraft(row, { strategy, resource, logger });
      getOrInsert(objects, row.table, () => []).push(buildStored(strategy, draft, row.revision));
    }
    for (const [resource, count] of unserved) logger.warn({ resource, count }, 'kept objects are not served');
    const tables = new Map([...objects].map(([name, stored]) => [name, snapshotOf(stored)] as const));
    store.restore({ revision: state.revision, tables });
  }
  dataDir.begin(store.revision);
}

/** An object that this version cannot decode stays as it was written. */
function restoredDraft(
  row: StoredRow,
  {
    strategy,
    resource,
    logger,
  }: { readonly strategy: Strategy; readonly resource: ServedResource; readonly logger: Logger },
): Draft {
  const kept = parseObject(row);
  try {
    return keptForm(kept, resource, strategy);
  } catch (error) {
    if (!(error instanceof WireFormError)) throw error;
    const { table, key } = row;
    logger.warn({ resource: table, key, error }, 'kept object has invalid fields; left as it was');
    return kept;
  }
}

function parseObject({ json, table, key }: StoredRow): Draft {
  const parsed = parseExactJson(json);
  if (!isDraft(parsed)) throw new DataDirError(`${table} ${key} in the data dir is not an object with metadata`);
  return parsed;
}

/** The resource whose form a table of the store has: of events, which two groups serve, the one of the core group. */
function ofTables(all: readonly ServedResource[]): ReadonlyMap<string, ServedResource> {
  const resources = new Map<string, ServedResource>();
  for (const served of all) {
    const table = tableOf(served);
    if (!resources.has(table) || served.group === '') resources.set(table, served);
  }
  return resources;
}

/**
 * The kept object, decoded and with defaults as a request body would be: without unknown fields, and with canonical
 * quantities, so that its immutable parts equal those of an update. kube-apiserver does the same with what it reads from
 * etcd. Its version, uid and owners stay. Throws a WireFormError for a value that is invalid for its field.
 */
function keptForm({ metadata, ...fields }: Draft, served: ServedResource, strategy: Strategy): Draft {
  const { managedFields, ...others } = metadata;
  const { object } = toFormOf(served, { metadata: others, ...fields });
  const draft: Draft = { ...object, metadata: mapAt(object, 'metadata') };
  if (managedFields !== undefined) draft.metadata['managedFields'] = managedFields;
  strategy.setDefaults(draft);
  return draft;
}
