import type { ObjectRef } from '@gitops-reverser/kernel-api';

/** Core `secrets` always; the list widens it. By group and resource alone. */
export function sensitivity(more: readonly string[]): (ref: ObjectRef) => boolean {
  const known = new Set([
    '/secrets',
    ...more.map((entry) => (entry.includes('/') ? entry : `/${entry}`).toLowerCase()),
  ]);
  const answers = new Map<string, boolean>();
  return (ref) => {
    const key = `${ref.group}/${ref.resource}`;
    let answer = answers.get(key);
    if (answer === undefined) {
      answer = known.has(key.toLowerCase());
      answers.set(key, answer);
    }
    return answer;
  };
}
