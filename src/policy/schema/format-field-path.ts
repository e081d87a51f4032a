const plainKey = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `policies[1].nodeSelector.matchLabels["example.com/pool"]`. */
export function formatFieldPath(path: readonly PropertyKey[]): string {
  return path.map((key, index) => formatKey(key, index === 0)).join('');
}

function formatKey(key: PropertyKey, isFirst: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  const text = String(key);
  if (!plainKey.test(text)) return `[${JSON.stringify(text)}]`;
  return isFirst ? text : `.${text}`;
}
