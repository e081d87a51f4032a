import { useEffect, useState } from 'preact/hooks';
import { fetchNode } from '../page/server-client.ts';
import type { NodeOutlook } from './node-outlook.ts';
import { parseExplanation } from './parse-explanation.ts';

export interface NodeState {
  readonly outlook: NodeOutlook | null;
  readonly explanation: ReturnType<typeof parseExplanation> | null;
  /** The JSON as the server sent it. */
  readonly json: string;
  /** Why the last request failed. */
  readonly problem: string | null;
}

const refreshMs = 2_000;
const nothing: NodeState = { outlook: null, explanation: null, json: '', problem: null };

/** The page of a node, read again every two seconds while it is visible. */
export function useNode(name: string): NodeState {
  const [node, setNode] = useState(nothing);
  useEffect(() => {
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setNode(nothing);
    const refresh = async (): Promise<void> => {
      if (document.visibilityState === 'visible') {
        const change = await readNode(name);
        if (isShown) setNode((old) => ({ ...old, ...change }));
      }
      if (isShown) timer = setTimeout(() => void refresh(), refreshMs);
    };
    void refresh();
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [name]);
  return node;
}

/** Reads the page of a node. After a failure, what was read before stays. */
async function readNode(name: string): Promise<Partial<NodeState>> {
  try {
    const { json, text } = await fetchNode(name);
    return { outlook: JSON.parse(json), explanation: parseExplanation(text), json, problem: null };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
