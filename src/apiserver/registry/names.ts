/** Kubelets check the names in their manifests by the same rules, so these live with the words that everybody shares. */
export {
  isDnsLabel,
  isDnsSubdomain,
  isLabelValue,
  isQualifiedName,
  labelLengthMax,
  nameLengthMax,
} from '../../api/names.ts';
