/** `wide`: the text, and the pages that belong to it. */
export const pageOutputs = ['text', 'wide', 'json', 'yaml'] as const;
export type PageOutput = (typeof pageOutputs)[number];

/** The format in which the controller is asked for a page. */
export function servedFormat(output: PageOutput): 'text' | 'json' {
  return output === 'text' || output === 'wide' ? 'text' : 'json';
}
