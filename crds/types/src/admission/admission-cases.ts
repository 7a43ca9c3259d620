import type { AdmissionCase } from './admission-case.js';
import { boundCases } from './bound-cases.js';
import { retiredCases } from './retired-cases.js';
import { ruleCases } from './rule-cases.js';

export type { AdmissionCase } from './admission-case.js';
export { admissionNamespace } from './full-objects.js';

/**
 * Accepted and refused objects for every rule, pattern, bound and retired spelling. They run against `validateStored`
 * here and against a real API server in the end-to-end suite: both must say the same.
 */
export const admissionCases: readonly AdmissionCase[] = [...boundCases(), ...ruleCases(), ...retiredCases()];
