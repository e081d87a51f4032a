// Extracts the metrics of a query and the labels of their selectors; parses only as much of PromQL as needed.

export interface NamedMetric {
  readonly metric: string;
  /** The labels of its selector. */
  readonly labels: readonly string[];
}

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'inf', 'nan']);
const lists = /\b(by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)/gi;

/** All metrics of the query in order, with duplicates. */
export function metricsOf(query: string): readonly NamedMetric[] {
  const bare = query
    .replace(/#.*$/gm, '')
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(lists, '')
    .replace(/\[[^\]]*\]/g, '');
  const named = [...bare.matchAll(/(?<![\w.:$])([a-z_:][\w:]*)\s*(\(|\{([^}]*)\})?/gi)];
  return named.flatMap(([, word = '', next, selector = '']): readonly NamedMetric[] => {
    if (next === '(' || keywords.has(word.toLowerCase())) return [];
    return [{ metric: word, labels: [...selector.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label ?? '') }];
  });
}
