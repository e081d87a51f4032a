// Which metrics a query names, and by which labels it selects them. Enough of PromQL for that, and no more.

export interface NamedMetric {
  readonly metric: string;
  /** Labels of its selector. */
  readonly labels: readonly string[];
}

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'inf', 'nan']);
const lists = /\b(by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)/gi;

/** Every metric of the query, in its order, as often as it stands there. */
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
