import { ReverserError, type StripRules, type TargetSettings } from '@gitops-reverser/kernel-api';
import { validateTemplates } from '@gitops-reverser/kernel-pipeline';
import { GENERATED_FILTERS } from '@gitops-reverser/plugin-kubernetes';
import {
  isSensitive,
  parseSensitiveResources,
  validatePlacement,
  type SensitiveResources,
} from '@gitops-reverser/toolkit-manifests';

/** What a target declares that no schema can judge. */
export interface TargetChecks {
  readonly generatedFilters: readonly { readonly id: string; readonly on: boolean }[];
  isSensitive(group: string, resource: string): boolean;
  /** Every problem, each with its path. */
  problems(settings: TargetSettings): readonly string[];
}

/**
 * Which types are never written in clear: the one answer for the river and for those who read declarations.
 *
 * @param additional types treated like Secrets; the configuration refuses misspelled ones
 * @throws ReverserError OptionsInvalid when one is misspelled all the same: dropping it would widen what is written in clear
 */
export function sensitivity(additional: readonly string[]): {
  readonly types: SensitiveResources;
  isSensitive(group: string, resource: string): boolean;
} {
  const parsed = parseSensitiveResources(additional.join(','));
  if (!parsed.ok) {
    throw new ReverserError({
      reason: 'OptionsInvalid',
      retry: 'when-changed',
      message: `--additional-sensitive-resources: ${parsed.error.join('; ')}`,
    });
  }
  const types = parsed.value;
  return { types, isSensitive: (group, resource) => isSensitive(group, resource, types) };
}

/**
 * @param additional as {@link sensitivity} takes them
 * @param stripRules of every loaded plugin
 * @throws ReverserError as {@link sensitivity}
 */
export function targetChecks(additional: readonly string[], stripRules: StripRules): TargetChecks {
  const { types, isSensitive: isTypeSensitive } = sensitivity(additional);
  return {
    generatedFilters: GENERATED_FILTERS,
    isSensitive: isTypeSensitive,
    problems({ placement, messages }) {
      const checked = validatePlacement(placement, types, stripRules);
      const ofPlacement = checked.ok
        ? []
        : checked.error.map(({ field, message }) => `spec.placement.${field}: ${message}`);
      return [...validateTemplates(messages).map(({ message }) => `spec.commit.message: ${message}`), ...ofPlacement];
    },
  };
}
