/** Replaced when the program is bundled. */
declare const OPERATOR_VERSION: string | undefined;
declare const OPERATOR_COMMIT: string | undefined;

export const VERSION: string = typeof OPERATOR_VERSION === 'string' ? OPERATOR_VERSION : '0.0.0-source';
export const COMMIT: string = typeof OPERATOR_COMMIT === 'string' ? OPERATOR_COMMIT : 'unknown';
