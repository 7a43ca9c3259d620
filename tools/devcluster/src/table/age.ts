/** `5s`, `3m20s`, `2d4h`: the way kubectl writes an age. */
export function ageText(since: string | undefined, nowMs: number): string {
  const startMs = since === undefined ? Number.NaN : Date.parse(since);
  if (Number.isNaN(startMs)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((nowMs - startMs) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`;
}
