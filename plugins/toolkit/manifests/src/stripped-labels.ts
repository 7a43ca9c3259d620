/** Labels that sanitizing always removes (chapter 20, 3.3): a path made from one would always take its fallback. */
const prefixes = ['kustomize.toolkit.fluxcd.io/', 'applyset.kubernetes.io/', 'kro.run/'];
const exact = [
  'helm.toolkit.fluxcd.io/name',
  'helm.toolkit.fluxcd.io/namespace',
  'resourceset.fluxcd.controlplane.io/name',
  'resourceset.fluxcd.controlplane.io/namespace',
];

/** The rule that strips the label, for the message. */
export function strippedLabelRule(key: string): string | undefined {
  const prefix = prefixes.find((each) => key.startsWith(each));
  if (prefix !== undefined) return `${prefix}*`;
  return exact.includes(key) ? key : undefined;
}
