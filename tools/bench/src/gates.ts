/** A figure beside the one to aim for. */
export const against = (measured: number, gate: number, unit: string, digits: number): string =>
  `${measured.toFixed(digits)} ${unit}  (gate ${gate} ${unit}: ${measured <= gate ? 'met' : 'missed'})`;
