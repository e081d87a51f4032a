import { createHash } from 'node:crypto';
import type { ManifestText } from '../../../../machinery/ports/static-pod-manifests.ts';
import { YamlProblem } from '../../../../machinery/yaml/value-builder.ts';
import { readYaml } from '../../../../machinery/yaml/yaml-reader.ts';

/** YAML or JSON, one document, read as kubelets do: of a key that occurs twice, the last one counts. */
export const manifestText: ManifestText = {
  parse(text) {
    try {
      const { value } = readYaml(text, 'kubernetes');
      return value === null ? { problem: 'is empty' } : { document: value };
    } catch (error) {
      if (error instanceof YamlProblem) return { problem: error.message };
      throw error;
    }
  },
  digest: (text) => createHash('md5').update(text).digest('hex'),
};
