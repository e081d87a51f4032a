type JsonMap = Readonly<Record<string, unknown>>;

/** JSON merge patch (RFC 7386): null deletes, objects merge, everything else - lists too - replaces. */
export function mergeDocuments(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isMap(target) ? target : {}) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergeDocuments(merged[field], value);
  }
  return merged;
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
