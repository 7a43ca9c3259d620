import {
  KERNEL_API_VERSION,
  POINT_SCOPES,
  nearest,
  refuse,
  ok,
  type AnyContribution,
  type Plugin,
  type PointName,
  type ReverserError,
  type Result,
} from '@gitops-reverser/kernel-api';
import { coreError } from './errors.js';

/** What a package says about its plugin before any of its code runs: the `gitopsReverser` block of its package.json. */
export interface PluginManifest {
  readonly id: string;
  /** `^MAJOR.MINOR`. */
  readonly kernelApi: string;
  readonly points: readonly PointName[];
}

export const POINTS = Object.keys(POINT_SCOPES) as readonly PointName[];
const KEYS = ['id', 'kernelApi', 'points'];
const SHAPE = '"gitopsReverser": {"id": "my-plugin", "kernelApi": "^1.0", "points": ["sanitizer"]}';
// DNS label: ids become metric labels and parts of names (chapter 10, PL-2).
const ID = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** Reads the block of one package.json. @param where the file, for messages */
export function parseManifest(block: unknown, use: string, where: string): Result<PluginManifest, ReverserError> {
  const problems = problemsOf(block);
  if (problems.length === 0) return ok(block as PluginManifest);
  return refuse(
    coreError('PluginManifestInvalid', {
      message: `${use}: ${where}: ${problems.join('; ')}. Expected a block such as ${SHAPE}`,
      details: { package: use, problems },
    }),
  );
}

function problemsOf(block: unknown): readonly string[] {
  if (block === undefined) return ['has no gitopsReverser block, so it is no plugin'];
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return ['gitopsReverser is not an object'];
  const { id, kernelApi, points } = block as Readonly<Record<string, unknown>>;
  const problems: string[] = [];
  for (const key of Object.keys(block))
    if (!KEYS.includes(key)) problems.push(`gitopsReverser.${key} is unknown; did you mean ${nearest(key, KEYS)}?`);
  if (typeof id !== 'string' || id.length > 63 || !ID.test(id))
    problems.push(`gitopsReverser.id: expected 1 to 63 lower-case letters, digits and dashes, found ${shown(id)}`);
  if (typeof kernelApi !== 'string' || parseRange(kernelApi) === undefined)
    problems.push(`gitopsReverser.kernelApi: expected ^MAJOR.MINOR, found ${shown(kernelApi)}`);
  if (!Array.isArray(points) || points.length === 0)
    problems.push(`gitopsReverser.points: expected a list of ${POINTS.join(', ')}, found ${shown(points)}`);
  else {
    for (const point of points as readonly unknown[]) {
      if (!(POINTS as readonly unknown[]).includes(point))
        problems.push(`gitopsReverser.points: ${shown(point)} is none of ${POINTS.join(', ')}`);
    }
  }
  return problems;
}

const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value)).slice(0, 80);

/** The points a block names, as far as it can be read: what a broken plugin would have offered. */
export function readablePoints(block: unknown): readonly PointName[] {
  const points = typeof block === 'object' && block !== null && 'points' in block ? block.points : undefined;
  return Array.isArray(points) ? POINTS.filter((point) => points.includes(point)) : [];
}

interface ApiVersion {
  readonly major: number;
  readonly minor: number;
}
function parseRange(range: string): ApiVersion | undefined {
  const match = /^\^?(\d+)\.(\d+)(\.\d+)?$/.exec(range);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

/** Same major, minor not above ours; undefined when it fits. */
export function apiMismatch(
  range: string,
  use: string,
  offered: string = KERNEL_API_VERSION,
): ReverserError | undefined {
  const [asked, ours] = [parseRange(range), parseRange(offered)];
  if (asked !== undefined && ours !== undefined && asked.major === ours.major && asked.minor <= ours.minor)
    return undefined;
  const isNewer =
    asked !== undefined &&
    ours !== undefined &&
    (asked.major > ours.major || (asked.major === ours.major && asked.minor > ours.minor));
  const remedy = isNewer ? 'upgrade the operator, or install an older version of the plugin' : 'upgrade the plugin';
  return coreError('PluginApiMismatch', {
    message: `${use}: asks for kernel API ${range}, this operator offers ${offered}; ${remedy}`,
    details: { package: use, asked: range, offered },
  });
}

/** Whether the plugin in the code is the one its manifest describes; undefined when it is. */
export function manifestMismatch(
  plugin: Plugin,
  contributions: readonly AnyContribution[],
  manifest: PluginManifest,
  use: string,
): ReverserError | undefined {
  const differences: string[] = [];
  const compare = (key: string, inManifest: string, inCode: string): void => {
    if (inManifest !== inCode)
      differences.push(`${key} is ${inManifest || 'nothing'} in the manifest and ${inCode || 'nothing'} in the code`);
  };
  compare('id', manifest.id, plugin.id);
  compare('kernelApi', manifest.kernelApi, plugin.kernelApi);
  compare('points', listed(manifest.points), listed(contributions.map(({ point }) => point)));
  if (differences.length === 0) return undefined;
  return coreError('PluginManifestInvalid', {
    message: `${use}: its manifest and its code disagree: ${differences.join('; ')}. Make gitopsReverser in package.json repeat what definePlugin says`,
    details: { package: use, differences },
  });
}

const listed = (points: readonly PointName[]): string => POINTS.filter((point) => points.includes(point)).join(', ');
